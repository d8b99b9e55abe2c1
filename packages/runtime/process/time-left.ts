/**
 * Milliseconds that what a stopping process has in hand may still take; `atLeast` when they are fewer. The first who asks
 * begins the count, so that parts which close one after the other share one time.
 */
export type TimeLeft = (atLeast?: number) => number;

/** What cutting off the rest, handing back what was taken and closing may take besides. */
export const ENDING_MS = 8_000;

export function timeLeft(ms = 10_000): TimeLeft {
  let endsAt: number | undefined;
  return (atLeast = 0) => {
    const now = performance.now();
    endsAt ??= now + ms;
    return Math.max(atLeast, endsAt - now);
  };
}
