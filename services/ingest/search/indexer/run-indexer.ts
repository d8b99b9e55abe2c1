import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@call-analysis/runtime';
import type { Store } from '../../store/index.ts';
import { FULL_TRANSACTION } from './index-entries.ts';

/** How often the indexer looks for pending changes. Those of one call in that time are indexed together. */
const EVERY_MS = 1_000;
/**
 * While nothing is pending, one statement per poll finds that out. Every so many polls, everything is checked anyway.
 */
const FULL_LOOK_MS = 60_000;
/** The indexer writes documents only part of the time: it pauses this many times as long as it worked. */
const PAUSE_WHILE_BUSY = 9;
const PAUSE = 0.5;
const AFTER_FAILURE_MS = 5_000;
/** While calls are being processed, entries that are younger stay where they are: most change before. */
const SETTLED_MS = 10 * 60_000;

/**
 * Keeps the index up to date in the background. Entries follow the catalogue within seconds, however many calls are
 * being processed, because every listing reads them. The words of calls follow at a pace that leaves most of the
 * machine to the processing of calls. A listing that finds little pending does not wait for this loop: it indexes its
 * firm's changes itself.
 */
export function runIndexer(store: Store, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  let changes = 0;
  let nextWords = 0;
  /** Until then, nothing is pending that the look for changes would not find. */
  let restsUntil = 0;

  /** Returns the milliseconds to pause. */
  async function round(): Promise<number> {
    const began = performance.now();
    if (began < restsUntil && !(await store.search.hasPending())) return EVERY_MS;
    restsUntil = 0;
    const entries = await store.search.indexEntries(null);
    if (began >= nextWords && !signal.aborted) {
      const before = changes;
      changes = await store.search.changesSoFar();
      const isBusy = changes > before;
      const wordsBegan = performance.now();
      const written = await indexWords(isBusy, entries);
      if (entries + written === 0 && !isBusy) restsUntil = began + FULL_LOOK_MS;
      const tookMs = performance.now() - wordsBegan;
      nextWords = performance.now() + (written === 0 ? EVERY_MS / 2 : tookMs * (isBusy ? PAUSE_WHILE_BUSY : PAUSE));
      if (written > 0 && !isBusy) return tookMs * PAUSE;
    }
    const isBehind = entries >= FULL_TRANSACTION;
    return isBehind ? 0 : Math.max(0, EVERY_MS - (performance.now() - began));
  }

  async function indexWords(isBusy: boolean, entries: number): Promise<number> {
    const documents = await store.search.indexDocuments(null);
    if (signal.aborted) return documents;
    const before = isBusy ? lowestUuidAt(Date.now() - SETTLED_MS) : null;
    const settled = await store.search.settleEntries(null, before);
    const older = entries + documents + settled > 0 || signal.aborted ? 0 : await store.search.backfillEntries();
    return documents + settled + older;
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

/** The lowest uuid of version 7 that is made at a time. */
function lowestUuidAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
