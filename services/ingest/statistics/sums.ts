/**
 * What calls add up to. Amounts are whole numbers, so that sums of sums are exact: scores in tenths, durations in
 * milliseconds, shares in millionths, sentiment in hundredths, points in thousandths.
 */
export const AMOUNTS = [
  'calls',
  'scored',
  'score',
  'autoFailed',
  'needsReview',
  'reviewed',
  'durations',
  'duration',
  'talks',
  'talk',
  'silences',
  'silence',
  'interrupted',
  'interruptions',
  'sentiments',
  'sentiment',
  'points',
  'maxPoints',
] as const;

export type Amounts = Record<(typeof AMOUNTS)[number], number>;

/** The number of calls by score in tenths. */
export type Histogram = Map<number, number>;

export interface Sums {
  readonly amounts: Amounts;
  readonly scores: Histogram;
}

export function noSums(): Sums {
  return { amounts: Object.fromEntries(AMOUNTS.map((name) => [name, 0])) as Amounts, scores: new Map() };
}

/** Adds to `sums`. */
export function addSums(sums: Sums, more: Sums): void {
  for (const name of AMOUNTS) sums.amounts[name] += more.amounts[name];
  for (const [score, calls] of more.scores) sums.scores.set(score, (sums.scores.get(score) ?? 0) + calls);
}

/** Subtracts from `sums` what was added to them. */
export function subtractSums(sums: Sums, less: Sums): void {
  for (const name of AMOUNTS) sums.amounts[name] -= less.amounts[name];
  for (const [score, calls] of less.scores) {
    const left = (sums.scores.get(score) ?? 0) - calls;
    if (left === 0) sums.scores.delete(score);
    else sums.scores.set(score, left);
  }
}

const PAIR_BYTES = 4;
const MOST_CALLS = 0xffff;

/** A histogram as pairs of a score and a number of calls, each of two bytes. Larger numbers take several pairs. */
export function packScores(scores: Histogram): Buffer {
  const pairs: [number, number][] = [];
  for (const [score, calls] of scores) {
    for (let left = calls; left > 0; left -= MOST_CALLS) pairs.push([score, Math.min(left, MOST_CALLS)]);
  }
  const bytes = Buffer.alloc(pairs.length * PAIR_BYTES);
  pairs.forEach(([score, calls], index) => {
    bytes.writeUInt16BE(score, index * PAIR_BYTES);
    bytes.writeUInt16BE(calls, index * PAIR_BYTES + 2);
  });
  return bytes;
}

/** The sum of several packed, concatenated histograms. */
export function unpackScores(bytes: Buffer): Histogram {
  return histogram(bytes, PAIR_BYTES, (at) => (bytes[at + 2]! << 8) | bytes[at + 3]!);
}

/** Of the scores of calls, two bytes each. */
export function histogramOf(bytes: Buffer | null): Histogram {
  return histogram(bytes ?? Buffer.alloc(0), 2, () => 1);
}

function histogram(bytes: Buffer, each: number, callsAt: (at: number) => number): Histogram {
  const calls = new Float64Array(SCORES);
  for (let at = 0; at < bytes.length; at += each) calls[(bytes[at]! << 8) | bytes[at + 1]!]! += callsAt(at);
  const scores: Histogram = new Map();
  for (let score = 0; score < SCORES; score += 1) if (calls[score]! > 0) scores.set(score, calls[score]!);
  return scores;
}

/** Scores in tenths: 0 to 1000. */
const SCORES = 1001;

/**
 * Interpolated as PostgreSQL's `percentile_cont`, with one decimal. `tenths` is the share: 9 for the 90th percentile.
 * Null without scores.
 */
export function percentile(scores: Histogram, tenths: number): number | null {
  const sorted = [...scores].sort(([one], [other]) => one - other);
  const count = sorted.reduce((sum, [, calls]) => sum + calls, 0);
  if (count === 0) return null;
  // In whole numbers, because a tenth is no binary fraction.
  const position = tenths * (count - 1);
  const [index, rest] = [Math.floor(position / 10), position % 10];
  const [low, high] = [scoreAt(sorted, index), scoreAt(sorted, Math.min(index + 1, count - 1))];
  return Math.round((low * (10 - rest) + high * rest) / 10) / 10;
}

function scoreAt(sorted: readonly (readonly [number, number])[], index: number): number {
  let seen = 0;
  for (const [score, calls] of sorted) {
    seen += calls;
    if (index < seen) return score;
  }
  return sorted.at(-1)![0];
}
