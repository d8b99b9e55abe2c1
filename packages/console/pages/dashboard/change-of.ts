/** What a higher number means. */
export type Better = 'more' | 'less' | 'neither';

interface Change {
  readonly direction: 'up' | 'down' | 'same';
  readonly tone: 'good' | 'bad' | 'neutral';
  /** Relative to the number before, or for shares the difference; both as a share, without a sign. */
  readonly by: number;
}

/** How a number differs from the one of the period before. Null where there is nothing to compare with. */
export function changeOf(
  now: number,
  before: number | null,
  { better = 'neither', isShare = false }: { readonly better?: Better; readonly isShare?: boolean } = {},
): Change | null {
  if (before === null || (before === 0 && !isShare)) return null;
  const by = isShare ? now - before : (now - before) / before;
  // What is shown has no decimals.
  if (Math.abs(by) < 0.005) return { direction: 'same', tone: 'neutral', by: 0 };
  const isUp = by > 0;
  const tone = better === 'neither' ? 'neutral' : isUp === (better === 'more') ? 'good' : 'bad';
  return { direction: isUp ? 'up' : 'down', tone, by: Math.abs(by) };
}
