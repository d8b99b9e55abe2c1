import { setTimeout as pause } from 'node:timers/promises';

/** Long enough for a machine that takes ten times as long, and below the limit that Jest sets for a test. */
const PATIENCE_MS = 240_000;
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;

/**
 * Repeats the check until its answer is not false, null or undefined, and returns the answer. A check that throws is also
 * repeated; its last error is the cause of the error at the time limit. Without `everyMs`, the pauses between checks grow to a
 * tenth of the time that has passed, because a check takes the processor from what it waits for. `everyMs` is for what holds
 * only for a moment.
 */
export async function waitUntil<T>(
  check: () => T | Promise<T>,
  { timeoutMs = PATIENCE_MS, everyMs }: { timeoutMs?: number; everyMs?: number | undefined } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const began = Date.now();
  const giveUpAt = began + timeoutMs;
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
    await pause(everyMs ?? Math.min(Math.max((Date.now() - began) / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
  }
}
