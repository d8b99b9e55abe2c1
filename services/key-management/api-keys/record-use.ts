import type { Logger } from '@call-analysis/runtime';
import type { Store } from '../store.ts';

/** `last_used` is allowed to be 60 s behind (api.md, section 3); the gateway's cache takes 5 s of that. */
const FLUSH_EVERY_MS = 10_000;

/** Remembers when keys were used and writes it down in batches: verifying a key never costs a write. */
export interface Uses {
  record(keyUuid: string): void;
  /** Writes what was recorded, in one statement; what could not be written is kept for the next time. */
  flush(): Promise<void>;
  /** Stops the timer and flushes for the last time. */
  close(): Promise<void>;
}

export function recordUses(
  { store, log }: { store: Pick<Store, 'saveLastUsed'>; log: Logger },
  everyMs = FLUSH_EVERY_MS,
): Uses {
  // Bounded by the number of keys.
  let waiting = new Map<string, number>();
  let flushing: Promise<void> = Promise.resolve();

  const record = (keyUuid: string, at: number): void => {
    waiting.set(keyUuid, Math.max(at, waiting.get(keyUuid) ?? 0));
  };

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    try {
      await store.saveLastUsed(batch);
    } catch (error) {
      for (const [keyUuid, at] of batch) record(keyUuid, at);
      throw error;
    }
  }

  // One at a time, so that two batches never wait for each other's rows.
  const flush = (): Promise<void> => {
    flushing = flushing.catch(() => undefined).then(write);
    return flushing;
  };

  const timer = setInterval(() => {
    flush().catch((error: unknown) => log.warn({ err: error }, 'the last uses of keys could not be written yet'));
  }, everyMs);
  timer.unref();

  return {
    record: (keyUuid) => record(keyUuid, Date.now()),
    flush,
    close: () => {
      clearInterval(timer);
      return flush();
    },
  };
}
