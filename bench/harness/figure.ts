/** One measured figure beside what it is held against, both from the same run (api.md, section 9). */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly yardstick: { readonly name: string; readonly value: number };
  readonly ratio: number;
  /** What the middle half of the rounds lies between, where each round measured both sides and the ratio is their median. */
  readonly spread?: readonly [number, number];
  /** In words, such as "ratio at least 0.45". */
  readonly goal: string;
  readonly holds: boolean;
}

interface Measured {
  name: string;
  value: number;
  unit: string;
  yardstick: { name: string; value: number };
  /** Of rounds that measured both sides one after the other: what disturbs one of them disturbs the other too. */
  ratios?: readonly number[];
}

export function atLeast(goal: number, measured: Measured): Figure {
  const figure = noted(measured);
  return { ...figure, goal: `ratio at least ${goal}`, holds: figure.ratio >= goal };
}

export function atMost(goal: number, measured: Measured): Figure {
  const figure = noted(measured);
  return { ...figure, goal: `ratio at most ${goal}`, holds: figure.ratio <= goal };
}

/** Without a goal: a quantity beside one that helps to see what it means. */
export function noted({ ratios, ...measured }: Measured): Figure {
  const figure = { ...measured, goal: 'none', holds: true };
  if (ratios === undefined) return { ...figure, ratio: measured.value / measured.yardstick.value };
  return { ...figure, ratio: median(ratios), spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)] };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The ratio with two decimals, and its spread where there were rounds. */
export function ratioText({ ratio, spread }: Figure): string {
  const [from, to] = spread ?? [];
  const middle = from === undefined || to === undefined ? '' : ` (${from.toFixed(2)} to ${to.toFixed(2)})`;
  return ratio.toFixed(2) + middle;
}

/** Three significant digits, or all digits of a number from 100 on. */
export function amountText(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
