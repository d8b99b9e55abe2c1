/** A measured figure with its yardstick from the same run. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly yardstick: { readonly name: string; readonly value: number };
  readonly ratio: number;
  /** The quartiles of the ratio, if each round measured both sides and the ratio is the median of the rounds. */
  readonly spread?: readonly [number, number];
  /** In words, such as "ratio at least 0.45". */
  readonly goal: string;
  readonly holds: boolean;
}

interface Measured extends Pick<Figure, 'name' | 'value' | 'unit' | 'yardstick'> {
  /** The ratios of rounds that measured both sides one after the other, so that a disturbance affects both. */
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

/** A figure without a goal. The yardstick is for comparison. */
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

/** The ratio with two decimals, and its spread if there is one. */
export function ratioText({ ratio, spread }: Figure): string {
  const [from, to] = spread ?? [];
  const middle = from === undefined || to === undefined ? '' : ` (${from.toFixed(2)} to ${to.toFixed(2)})`;
  return ratio.toFixed(2) + middle;
}

/** Three significant digits, or all digits of a number of 100 or more. */
export function amountText(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
