import type { Logger } from '@call-analysis/runtime';

const SHARE = 0.1;
const MIN_PAUSE_MS = 5_000;

interface ProgressReporter {
  start(): void;
  /** `seconds` of the recording are transcribed. */
  advance(seconds: number): void;
  /** Resolves when all reports have been published or have failed. */
  end(): Promise<void>;
}

/**
 * Publishes how much of a recording is transcribed: at the start, then at each tenth, but at most once in five seconds.
 * Only `end` waits for publishing. A report that cannot be published is logged and does not fail the transcription.
 */
export function progressReporter(
  duration: number,
  publish: (seconds: number) => Promise<void>,
  log: Logger,
  now: () => number = Date.now,
): ProgressReporter {
  let reported = 0;
  let reportedAt = now();
  let publishing: Promise<void> = Promise.resolve();

  function report(seconds: number): void {
    reported = seconds;
    reportedAt = now();
    publishing = publishing
      .then(() => publish(Math.round(seconds * 100) / 100))
      .catch((error: unknown) => log.warn({ err: error }, 'progress could not be published'));
  }

  return {
    start: () => report(0),
    advance(seconds) {
      const done = Math.min(seconds, duration);
      if (done - reported >= SHARE * duration && done < duration && now() - reportedAt >= MIN_PAUSE_MS) report(done);
    },
    end: () => publishing,
  };
}
