import type { Judged, JudgedAnswer } from './judged-answers.ts';

/** How well given answers agree with the right ones. Null where a figure has no meaning. */
export type Figures = ReturnType<typeof figuresOf>;

/** An answer with the right one. Null, "does not apply", is an answer like any other. */
export type Pair = Pick<JudgedAnswer, 'right' | 'given' | 'needsReview'>;

export function figuresOf(pairs: readonly Pair[]) {
  const n = pairs.length;
  const right = countBy(pairs.map((pair) => pair.right));
  const given = countBy(pairs.map((pair) => pair.given));
  const hits = countBy(pairs.filter(isRight).map((pair) => pair.right));
  const agreed = pairs.filter(isRight).length;
  const rest = pairs.filter(({ needsReview }) => !needsReview);
  /** The sum over answers of how often each is right times how often it is given. */
  let crossed = 0;
  for (const [answer, count] of right) crossed += count * (given.get(answer) ?? 0);
  return {
    n,
    /** The share of answers that are right. */
    accuracy: quotient(agreed, n),
    /** The mean, over the right answers that occur, of the share of them that was given. */
    balancedAccuracy: mean([...right].map(([answer, count]) => (hits.get(answer) ?? 0) / count)),
    /** Matthews' correlation, for two or more answers; null when either side has one answer alone. */
    correlation: quotient(
      agreed * n - crossed,
      Math.sqrt((n * n - sumOfSquares(right)) * (n * n - sumOfSquares(given))),
    ),
    /** Cohen's kappa; null when chance alone would agree always. */
    kappa: quotient(agreed * n - crossed, n * n - crossed),
    /** The accuracy of always giving the most frequent right answer. */
    majorityAccuracy: quotient(Math.max(0, ...right.values()), n),
    /** The share of answers that are marked for review. */
    reviewShare: quotient(n - rest.length, n),
    /** The accuracy of the answers that are not marked; null when all are. */
    restAccuracy: quotient(rest.filter(isRight).length, rest.length),
    /** The share of answers that are wrong and not marked: nobody is asked to look at them. */
    unmarkedWrongShare: quotient(rest.filter((pair) => !isRight(pair)).length, n),
  };
}

/**
 * Figures of several questions together. The majority is that of each question. Balance, correlation and kappa are
 * null: the same label means something else in another question.
 */
export function figuresOfQuestions(byQuestion: ReadonlyMap<string, readonly Pair[]>): Figures {
  const pairs = [...byQuestion.values()].flat();
  const guessed = [...byQuestion.values()].map((each) => Math.max(...countBy(each.map(({ right }) => right)).values()));
  return {
    ...figuresOf(pairs),
    balancedAccuracy: null,
    correlation: null,
    kappa: null,
    majorityAccuracy: quotient(
      guessed.reduce((sum, count) => sum + count, 0),
      pairs.length,
    ),
  };
}

function isRight({ right, given }: Pair): boolean {
  return right === given;
}

function countBy(answers: readonly (string | null)[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return counts;
}

function sumOfSquares(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count * count, 0);
}

function mean(values: readonly number[]): number | null {
  return quotient(
    values.reduce((sum, value) => sum + value, 0),
    values.length,
  );
}

function quotient(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** Counts pairs in which both conversations have a score, and those in which the better one has the higher one. */
export function orderOf(scores: readonly Omit<Judged['scores'][number], 'language'>[]) {
  const byPair = new Map<string, { well?: number; badly?: number }>();
  for (const { pair, handled, score } of scores) {
    if (pair === null || handled === null || score === null) continue;
    byPair.set(pair, { ...byPair.get(pair), [handled]: score });
  }
  const complete = [...byPair.values()].filter(
    (pair): pair is { well: number; badly: number } => pair.well !== undefined && pair.badly !== undefined,
  );
  return {
    pairs: complete.length,
    right: complete.filter(({ well, badly }) => well > badly).length,
    equal: complete.filter(({ well, badly }) => well === badly).length,
  };
}
