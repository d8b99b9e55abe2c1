import { setTimeout as pause } from 'node:timers/promises';

/** Long enough for a loaded machine, and below the limit that Jest sets for a test. */
const PATIENCE_MS = 50_000;

/**
 * Repeats the check until its answer is not false, null or undefined, and returns the answer. A check that throws is also
 * repeated; its last error is the cause of the error at the time limit.
 */
export async function waitUntil<T>(
  check: () => T | Promise<T>,
  { timeoutMs = PATIENCE_MS, everyMs = 20 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      const answer = await check();
      if (answer !== false && answer !== null && answer !== undefined) {
        return answer as Exclude<T, false | null | undefined>;
      }
    } catch (error) {
      cause = error;
    }
    if (Date.now() >= giveUpAt) throw new Error(`The condition was not met within ${timeoutMs} ms.`, { cause });
    await pause(everyMs);
  }
}
