import type { Logger } from '@call-analysis/runtime';

const SHARE = 0.1;
const LEAST_PAUSE_MS = 5_000;

/**
 * Tells how much of a recording has been heard: at the beginning, then at each tenth, but not more often than every five
 * seconds. Nobody waits for it but `end`, and what could not be told is only logged: it is news, not a result.
 */
export function reporting(
  duration: number,
  tell: (heard: number) => Promise<void>,
  log: Logger,
  now: () => number = Date.now,
) {
  let told = 0;
  let toldAt = now();
  let telling: Promise<void> = Promise.resolve();

  function say(heard: number): void {
    told = heard;
    toldAt = now();
    telling = telling
      .then(() => tell(Math.round(heard * 100) / 100))
      .catch((error: unknown) => log.warn({ err: error }, 'progress could not be told'));
  }

  return {
    begin: () => say(0),
    heard(seconds: number): void {
      const heard = Math.min(seconds, duration);
      if (heard - told >= SHARE * duration && heard < duration && now() - toldAt >= LEAST_PAUSE_MS) say(heard);
    },
    end: () => telling,
  };
}
