import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@call-analysis/runtime';
import type { Store } from '../../store/index.ts';

/** How often the indexer looks for pending changes when there were none. */
const IDLE_MS = 1_000;
/** The indexer pauses this many times as long as it worked: while calls are being processed, and while none are. */
const PAUSE_WHILE_BUSY = 9;
const PAUSE = 0.5;
const AFTER_FAILURE_MS = 5_000;

/**
 * Keeps the index up to date in the background, at a pace that leaves most of the machine to the processing of calls. A
 * listing does not wait for this loop: it indexes its firm's pending changes itself.
 */
export function runIndexer(store: Store, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  let changes = 0;

  /** Returns the milliseconds to pause. */
  async function round(): Promise<number> {
    const before = changes;
    changes = await store.search.changesSoFar();
    const began = performance.now();
    const entries = await store.search.indexEntries(null);
    const documents = signal.aborted ? 0 : await store.search.indexDocuments(null);
    const older = entries + documents > 0 || signal.aborted ? 0 : await store.search.backfillEntries();
    if (entries + documents + older === 0) return IDLE_MS;
    return (performance.now() - began) * (changes > before ? PAUSE_WHILE_BUSY : PAUSE);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await round().catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, 'indexing calls failed');
        return AFTER_FAILURE_MS;
      });
      await pause(pauseMs, undefined, { signal, ref: false }).catch(() => {});
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
