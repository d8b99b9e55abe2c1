/** Words needed before a handful of them weigh fully. */
const CAUTION = 2;

/** -1 to 1 with two decimals, from how many phrases of either kind were said; a negated one counts for the other. */
export function sentimentOf(positive: number, negative: number): number {
  const value = Math.round(((positive - negative) / (positive + negative + CAUTION)) * 100) / 100;
  // Never -0, which would not survive being stored.
  return value === 0 ? 0 : value;
}
