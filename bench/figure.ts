/** One measured figure beside what it is held against, both from the same run (api.md, section 9). */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly yardstick: { readonly name: string; readonly value: number };
  readonly ratio: number;
  /** In words, such as "ratio at least 0.45". */
  readonly goal: string;
  readonly holds: boolean;
}

interface Measured {
  name: string;
  value: number;
  unit: string;
  yardstick: { name: string; value: number };
}

export function atLeast(goal: number, measured: Measured): Figure {
  const ratio = measured.value / measured.yardstick.value;
  return { ...measured, ratio, goal: `ratio at least ${goal}`, holds: ratio >= goal };
}

export function atMost(goal: number, measured: Measured): Figure {
  const ratio = measured.value / measured.yardstick.value;
  return { ...measured, ratio, goal: `ratio at most ${goal}`, holds: ratio <= goal };
}

/** Without a goal: a quantity beside one that helps to see what it means. */
export function noted(measured: Measured): Figure {
  return { ...measured, ratio: measured.value / measured.yardstick.value, goal: 'none', holds: true };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
