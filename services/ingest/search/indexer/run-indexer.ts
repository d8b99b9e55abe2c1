import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@call-analysis/runtime';
import type { Store } from '../../store/index.ts';

/** How soon what nobody waits for is looked at. */
const IDLE_MS = 1_000;
/** How many times as long as it works the index rests while calls are being worked on, and when none are. */
const REST_WHILE_BUSY = 9;
const REST = 0.5;
const AFTER_FAILURE_MS = 5_000;

/**
 * Keeps the index up with the catalogue, at a pace that leaves the calls being worked on most of the machine. A listing
 * does not wait for this: it indexes what its firm has committed by itself.
 */
export function keepIndexed(store: Store, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  let changes = 0;

  /** Returns how long to rest. */
  async function round(): Promise<number> {
    const before = changes;
    changes = await store.search.changesSoFar();
    const began = performance.now();
    const calls = await store.search.indexCalls(null);
    const texts = signal.aborted ? 0 : await store.search.indexTexts(null);
    if (calls + texts === 0) return IDLE_MS;
    return (performance.now() - began) * (changes > before ? REST_WHILE_BUSY : REST);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const restMs = await round().catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, 'the index of calls could not be kept up');
        return AFTER_FAILURE_MS;
      });
      await pause(restMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
