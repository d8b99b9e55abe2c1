/** The contribution of an answer to the totals. */
export interface ScoredAnswer {
  readonly weight: number;
  /** Null when the question does not apply. */
  readonly points: number | null;
  readonly maxPoints: number;
  /**
   * Whether the answer fails the call: `proved` by a model's verified answer or a person's, otherwise only `suspected`,
   * which changes no score.
   */
  readonly autoFail: 'proved' | 'suspected' | null;
}

export interface Totals {
  /** From 0 to 100 with one decimal; null when no question applies. */
  readonly score: number | null;
  readonly sections: readonly (number | null)[];
  readonly autoFailed: boolean;
  /** An answer may fail the call, and none is proved to. */
  readonly autoFailSuspected: boolean;
}

/**
 * Computes the scores of a call. An answer counts with its weight times its share of the question's maximum points. A
 * question that does not apply counts neither way. An auto-fail makes the total 0 and leaves the scores of the
 * sections, which show how the rest of the call was.
 */
export function computeTotals(sections: readonly (readonly ScoredAnswer[])[]): Totals {
  const has = (autoFail: ScoredAnswer['autoFail']) =>
    sections.some((answers) => answers.some((answer) => answer.autoFail === autoFail && answer.points !== null));
  const autoFailed = has('proved');
  return {
    score: autoFailed ? 0 : scoreOf(sections.flat()),
    sections: sections.map(scoreOf),
    autoFailed,
    autoFailSuspected: !autoFailed && has('suspected'),
  };
}

function scoreOf(answers: readonly ScoredAnswer[]): number | null {
  // Weights are divided by the largest, so that very small or large ones do not leave the range of doubles.
  const largest = answers.reduce((most, answer) => (answer.points === null ? most : Math.max(most, answer.weight)), 0);
  if (largest === 0) return null;
  let reached = 0;
  let reachable = 0;
  for (const { weight, points, maxPoints } of answers) {
    if (points === null) continue;
    reached += (weight / largest) * (points / maxPoints);
    reachable += weight / largest;
  }
  return Math.min(100, Math.round((reached / reachable) * 1000) / 10);
}
