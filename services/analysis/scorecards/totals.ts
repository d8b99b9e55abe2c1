/** What an answer adds to the totals. `points` is null when the question does not apply. */
export interface Scored {
  readonly weight: number;
  readonly points: number | null;
  readonly maxPoints: number;
  readonly autoFail: boolean;
}

export interface Totals {
  /** 0 to 100 with one decimal; null when no question applies. */
  readonly score: number | null;
  readonly sections: readonly (number | null)[];
  readonly autoFailed: boolean;
}

/**
 * Adds up answers: each counts its share of its most points times its weight, and what does not apply is left out
 * of both sides. An auto-fail makes the total 0; sections keep theirs, to show where the rest stood.
 */
export function addUp(sections: readonly (readonly Scored[])[]): Totals {
  const autoFailed = sections.some((answers) => answers.some((answer) => answer.autoFail && answer.points !== null));
  return {
    score: autoFailed ? 0 : scoreOf(sections.flat()),
    sections: sections.map(scoreOf),
    autoFailed,
  };
}

function scoreOf(answers: readonly Scored[]): number | null {
  // Weights are taken relative to the largest, so that neither tiny nor huge ones leave the range of doubles.
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
