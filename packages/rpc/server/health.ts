import { setTimeout as pause } from 'node:timers/promises';
import { notFound } from '@call-analysis/fault';
import { cachedFor } from '@call-analysis/runtime';
import { HEALTH_METHODS, type Call } from '../wire/methods.ts';
import type { Implementation } from './answer.ts';

/** How long SERVING is cached, so that the probes of many callers cost one check. */
const CACHE_MS = 1000;
/** How often readiness is checked for callers of Watch. */
const WATCH_MS = 2000;

/**
 * Answers SERVING while `ready` resolves. `ready` is called only when somebody calls Check or Watch, so an idle process
 * checks nothing. Only SERVING is cached. The empty name means the complete process.
 */
export function implementHealth(options: { names: readonly string[]; ready: () => Promise<void> }) {
  const stopping = new AbortController();
  const isReady = cachedFor(CACHE_MS, options.ready);
  const isServing = async () =>
    !stopping.signal.aborted &&
    isReady().then(
      () => true,
      () => false,
    );
  const isKnown = (name: string) => name === '' || options.names.includes(name);
  const status = async () => ((await isServing()) ? 'SERVING' : 'NOT_SERVING');

  const handlers = {
    async check({ service: name }: { service: string }) {
      if (!isKnown(name)) throw notFound('service');
      return { status: await status() };
    },
    async *watch({ service: name }: { service: string }, call: Call) {
      let reported: string | undefined;
      while (!call.signal.aborted) {
        const now = isKnown(name) ? await status() : 'SERVICE_UNKNOWN';
        if (now !== reported) yield { status: now };
        reported = now;
        if (stopping.signal.aborted) return;
        const signal = AbortSignal.any([stopping.signal, call.signal]);
        await pause(WATCH_MS, undefined, { signal }).catch(() => {});
      }
    },
  };
  const implementation: Implementation = { service: HEALTH_METHODS, handlers };
  /** Reports NOT_SERVING to all callers of Watch and ends their streams. */
  const stop = () => stopping.abort();
  return { implementation, stop };
}
