import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@call-analysis/runtime';
import type { AttemptResult, DisabledEndpoint } from './lease-store.ts';

const MAX_RESULTS = 1_024;
/** How long a result waits for others, to be written together with them. */
const GATHER_MS = 40;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

interface ResultWriter {
  add(result: AttemptResult): void;
  /** Resolves when everything is written, or when the database has not answered for so long. */
  close(withinMs: number): Promise<void>;
}

/**
 * Writes the results of attempts, many at a time. While the database does not answer, they are kept and tried again.
 */
export function openResultWriter(parts: {
  store(results: readonly AttemptResult[]): Promise<DisabledEndpoint[]>;
  /** Called when the results are written. */
  stored(results: readonly AttemptResult[], disabled: readonly DisabledEndpoint[]): void;
  log: Logger;
}): ResultWriter {
  let gathered: AttemptResult[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  const closed = new AbortController();

  async function writeAll(): Promise<void> {
    for (let retryMs = FIRST_RETRY_MS; gathered.length > 0;) {
      const results = gathered.slice(0, MAX_RESULTS);
      try {
        const disabled = await parts.store(results);
        gathered = gathered.slice(results.length);
        retryMs = FIRST_RETRY_MS;
        parts.stored(results, disabled);
      } catch (error) {
        parts.log.error({ err: error, results: gathered.length }, 'results of webhook deliveries could not be stored');
        await pause(retryMs, undefined, { signal: closed.signal });
        retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
      }
    }
  }

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll()
      .catch(() => {})
      .finally(() => {
        writing = undefined;
      });
  }

  return {
    add(result) {
      gathered.push(result);
      if (gathered.length >= MAX_RESULTS) write();
      else if (writing === undefined) timer ??= setTimeout(write, GATHER_MS);
    },
    async close(withinMs) {
      write();
      const giveUp = setTimeout(() => closed.abort(), withinMs);
      await writing;
      clearTimeout(giveUp);
    },
  };
}
