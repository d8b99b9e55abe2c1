import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@call-analysis/runtime';
import type { Words } from './word-store.ts';

/** How often the indexer looks for words. */
const EVERY_MS = 2_000;
const AFTER_FAILURE_MS = 5_000;

/** Indexes words in the background. While much waits, it works half of the time. */
export function runIndexer(words: Words, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function round(): Promise<number> {
    const began = performance.now();
    const indexed = await words.index(null);
    return indexed === 0 ? EVERY_MS : performance.now() - began;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await round().catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, 'indexing words failed');
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
