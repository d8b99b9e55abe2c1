import {
  HIGH_BAND_LINE_SPECTRUM,
  HIGH_BAND_LINE_SPECTRUM_FINE,
  LINE_SPECTRUM,
  LINE_SPECTRUM_HIGH,
  LINE_SPECTRUM_HIGH_FINE,
  LINE_SPECTRUM_LOW,
  LINE_SPECTRUM_LOW_FINE,
} from './codebooks.ts';
import type { PacketBits } from './packet-bits.ts';

/** Coefficients of the narrow band's synthesis filter. */
export const NARROW_ORDER = 10;
/** Coefficients of a high band's. */
export const HIGH_ORDER = 8;

/** Every codebook of line spectra has 64 entries. */
const INDEX_BITS = 6;
/** The format's own roundings of 1/256, 1/512 and 1/1024. */
const COARSE = 0.0039062;
const MIDDLE = 0.0019531;
const FINE = 0.00097656;

/** Adds the chosen entry, `count` numbers, to the frequencies from `start` on. */
function refine(
  bits: PacketBits,
  book: Int8Array,
  step: number,
  into: Float64Array,
  start: number,
  count: number,
): void {
  const entry = bits.take(INDEX_BITS) * count;
  for (let i = 0; i < count; i += 1) into[start + i]! += step * book[entry + i]!;
}

/** Frequencies in radians of half the rate, ascending as an encoder writes them. */
export function takeNarrowSpectrum(bits: PacketBits, isFine: boolean, into: Float64Array): void {
  for (let i = 0; i < NARROW_ORDER; i += 1) into[i] = 0.25 * (i + 1);
  const half = NARROW_ORDER / 2;
  refine(bits, LINE_SPECTRUM, COARSE, into, 0, NARROW_ORDER);
  refine(bits, LINE_SPECTRUM_LOW, MIDDLE, into, 0, half);
  if (isFine) refine(bits, LINE_SPECTRUM_LOW_FINE, FINE, into, 0, half);
  refine(bits, LINE_SPECTRUM_HIGH, MIDDLE, into, half, half);
  if (isFine) refine(bits, LINE_SPECTRUM_HIGH_FINE, FINE, into, half, half);
}

/** The same for a high band. */
export function takeHighSpectrum(bits: PacketBits, into: Float64Array): void {
  for (let i = 0; i < HIGH_ORDER; i += 1) into[i] = 0.3125 * i + 0.75;
  refine(bits, HIGH_BAND_LINE_SPECTRUM, COARSE, into, 0, HIGH_ORDER);
  refine(bits, HIGH_BAND_LINE_SPECTRUM_FINE, MIDDLE, into, 0, HIGH_ORDER);
}

/**
 * Where between two frames' spectra a part of the frame lies: `share` 0 is the old, 1 the new. Neighbours are kept
 * `margin` apart, without which the filter would not be stable.
 */
export function interpolate(
  old: Float64Array,
  next: Float64Array,
  share: number,
  margin: number,
  into: Float64Array,
): void {
  const last = into.length - 1;
  for (let i = 0; i <= last; i += 1) into[i] = (1 - share) * old[i]! + share * next[i]!;
  into[0] = Math.max(into[0]!, margin);
  into[last] = Math.min(into[last]!, Math.PI - margin);
  for (let i = 1; i < last; i += 1) {
    into[i] = Math.max(into[i]!, into[i - 1]! + margin);
    const ceiling = into[i + 1]! - margin;
    if (into[i]! > ceiling) into[i] = 0.5 * (into[i]! + ceiling);
  }
}

/**
 * The synthesis filter's coefficients after its leading 1. Every second line belongs to a symmetric polynomial and the
 * others to an antisymmetric one; the filter is the mean of the two.
 */
export function toCoefficients(spectrum: Float64Array, into: Float64Array): void {
  const order = spectrum.length;
  const symmetric = productOfPairs(spectrum, 0);
  const antisymmetric = productOfPairs(spectrum, 1);
  for (let i = 1; i <= order; i += 1) {
    into[i - 1] = 0.5 * (symmetric[i]! + symmetric[i - 1]! + antisymmetric[i]! - antisymmetric[i - 1]!);
  }
}

/** The product of 1 - 2 cos(f) z^-1 + z^-2 over every second frequency. */
function productOfPairs(spectrum: Float64Array, first: number): Float64Array {
  const product = new Float64Array(spectrum.length + 1);
  product[0] = 1;
  for (let line = first; line < spectrum.length; line += 2) {
    const middle = -2 * Math.cos(spectrum[line]!);
    const degree = 2 * ((line >> 1) + 1);
    for (let i = degree; i >= 1; i -= 1) {
      product[i]! += middle * product[i - 1]! + (i > 1 ? product[i - 2]! : 0);
    }
  }
  return product;
}
