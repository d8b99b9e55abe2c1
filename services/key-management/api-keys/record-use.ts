import type { Logger } from '@call-analysis/runtime';
import type { Store } from '../store/store.ts';

/** `last_used` may be up to 60 s old (docs/api.md, "Keys and users"). The gateway's cache takes 5 s of that. */
const FLUSH_EVERY_MS = 10_000;

export type Uses = ReturnType<typeof recordUses>;

/** Collects the last uses of keys and writes them in batches, so that verifying a key needs no write. */
export function recordUses(
  { store, log }: { store: Pick<Store, 'saveLastUsed'>; log: Logger },
  everyMs = FLUSH_EVERY_MS,
) {
  // Bounded by the number of keys.
  let pending = new Map<string, number>();
  let flushing: Promise<void> = Promise.resolve();

  const record = (keyUuid: string, at: number): void => {
    pending.set(keyUuid, Math.max(at, pending.get(keyUuid) ?? 0));
  };

  async function write(): Promise<void> {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await store.saveLastUsed(batch);
    } catch (error) {
      for (const [keyUuid, at] of batch) record(keyUuid, at);
      throw error;
    }
  }

  // One batch at a time, so that two batches do not lock each other's rows.
  const flush = (): Promise<void> => {
    flushing = flushing.catch(() => undefined).then(write);
    return flushing;
  };

  const timer = setInterval(() => {
    flush().catch((error: unknown) =>
      log.warn({ err: error }, 'cannot write the last uses of keys; the next attempt includes them'),
    );
  }, everyMs);
  timer.unref();

  return {
    record: (keyUuid: string): void => record(keyUuid, Date.now()),
    /** Writes the recorded uses in one statement. If that fails, they are kept for the next time. */
    flush,
    /** Stops the timer and flushes a last time. */
    close: (): Promise<void> => {
      clearInterval(timer);
      return flush();
    },
  };
}
