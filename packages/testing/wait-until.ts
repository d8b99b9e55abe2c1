import { setTimeout as pause } from 'node:timers/promises';

/** So long that only what will never come is given up, and yet within the minute that Jest gives a test. */
const PATIENCE_MS = 50_000;

/**
 * Asks again until the answer is neither false, null nor undefined, and returns it. A check that throws is asked again
 * too; its last error becomes the cause of the one thrown when time is up.
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
    if (Date.now() >= giveUpAt) throw new Error(`What was waited for did not come within ${timeoutMs} ms.`, { cause });
    await pause(everyMs);
  }
}
