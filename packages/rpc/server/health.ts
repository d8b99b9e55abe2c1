import { notFound } from '@call-analysis/fault';
import { HEALTH_METHODS, type Call } from '../wire/methods.ts';
import type { Implementation } from './answer.ts';

/** How long SERVING is cached, so that the probes of many callers cost one check. */
const CACHE_MS = 1000;
/** How often readiness is checked for callers of Watch. */
const WATCH_MS = 2000;

interface Health {
  readonly implementation: Implementation;
  /** Reports NOT_SERVING to all callers of Watch and ends their streams. */
  stop(): void;
}

/**
 * Answers SERVING while `ready` resolves. `ready` is called only when somebody calls Check or Watch, so an idle process
 * checks nothing. Only SERVING is cached. The empty name means the complete process.
 */
export function implementHealth(options: { names: readonly string[]; ready: () => Promise<void> }): Health {
  let running: Promise<boolean> | undefined;
  let servingUntil = 0;
  const stopping = new AbortController();

  function isReady(): Promise<boolean> {
    if (performance.now() < servingUntil) return Promise.resolve(true);
    running ??= options
      .ready()
      .then(
        () => {
          servingUntil = performance.now() + CACHE_MS;
          return true;
        },
        () => false,
      )
      .finally(() => (running = undefined));
    return running;
  }

  const isKnown = (name: string) => name === '' || options.names.includes(name);
  const status = async () => (!stopping.signal.aborted && (await isReady()) ? 'SERVING' : 'NOT_SERVING');

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
        await pauseUntil(WATCH_MS, [stopping.signal, call.signal]);
      }
    },
  };
  return { implementation: { service: HEALTH_METHODS, handlers }, stop: () => stopping.abort() };
}

/** Resolves when the time has passed or one of the signals aborts. */
function pauseUntil(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) signal.addEventListener('abort', end);
    if (signals.some(({ aborted }) => aborted)) end();
  });
}
