/**
 * Milliseconds that work in progress may still take in a stopping process, but not less than `atLeast`. The time begins
 * with the first call, so that parts that close one after the other share it.
 */
export type TimeLeft = (atLeast?: number) => number;

/** The time beyond that for cancelling unfinished work, returning deliveries to their queues and closing. */
export const SHUTDOWN_MARGIN_MS = 8_000;

export function timeLeft(ms = 10_000): TimeLeft {
  let endsAt: number | undefined;
  return (atLeast = 0) => {
    const now = performance.now();
    endsAt ??= now + ms;
    return Math.max(atLeast, endsAt - now);
  };
}
