import { rootMeanSquare } from './filters.ts';

/** Samples that are sharpened at a time: half a frame. */
const SPAN = 80;
/** Lags on either side of the pitch that are tried. */
const REACH = 3;
const LAGS = 2 * REACH + 1;
/** The signal a third of a sample off, the format's own choice of three. */
const SHIFTS = [
  [-0.011915, 0.046995, -0.152373, 0.614108, 0.614108, -0.152373, 0.046995],
  [-0.0324855, 0.0859768, -0.2042986, 0.9640297, 0.208642, -0.0302054, -0.0063646],
  [-0.0063646, -0.0302054, 0.208642, 0.9640297, -0.2042986, 0.0859768, -0.0324855],
].map((shift) => Float64Array.from(shift));
/** A pitch longer than this is compared with two periods ago, a shorter one with the period to come. */
const LONG_PITCH = 40;

function product(a: Float64Array, aStart: number, b: Float64Array, bStart: number): number {
  let sum = 0;
  for (let i = 0; i < SPAN; i += 1) sum += a[aStart + i]! * b[bStart + i]!;
  return sum;
}

/** The stretch about `pitch` samples before `start`, or after for a negative one, that is most like the one there. */
function mostAlike(excitation: Float64Array, start: number, pitch: number, into: Float64Array): void {
  const origin = start - pitch - REACH;
  const whole = new Float64Array(LAGS);
  for (let lag = 0; lag < LAGS; lag += 1) whole[lag] = product(excitation, start, excitation, origin + lag);

  let best = whole[0]!;
  let bestLag = 0;
  let bestShift: Float64Array | null = null;
  for (let lag = 1; lag < LAGS; lag += 1) {
    if (whole[lag]! > best) {
      best = whole[lag]!;
      bestLag = lag;
    }
  }
  for (const shift of SHIFTS) {
    for (let lag = 0; lag < LAGS; lag += 1) {
      let likeness = 0;
      for (let tap = Math.max(0, REACH - lag); tap < Math.min(LAGS, LAGS + REACH - lag); tap += 1) {
        likeness += shift[tap]! * whole[lag + tap - REACH]!;
      }
      if (likeness > best) {
        best = likeness;
        bestLag = lag;
        bestShift = shift;
      }
    }
  }

  for (let i = 0; i < SPAN; i += 1) {
    const at = origin + bestLag + i;
    if (bestShift === null) {
      into[i] = excitation[at]!;
      continue;
    }
    let sum = 0;
    for (let tap = 0; tap < LAGS; tap += 1) sum += bestShift[tap]! * excitation[at + tap - REACH]!;
    into[i] = sum;
  }
}

const near = new Float64Array(SPAN);
const far = new Float64Array(SPAN);

/** How much of a neighbouring period to add: the more alike it is, and the deeper the comb, the more. */
function share(excitation: Float64Array, start: number, strength: number, period: Float64Array, comb: number): number {
  const periodStrength = Math.sqrt(1000 + product(period, 0, period, 0));
  const likeness = Math.min(1, Math.max(0, product(period, 0, excitation, start)) / (strength * periodStrength));
  const least = 0.4 * comb + 0.07;
  const steepness = 0.5 + 1.72 * (least - 0.07);
  const room = Math.max(least, 1 - steepness * likeness * likeness);
  return ((least / room) * strength) / periodStrength;
}

/**
 * Adds the neighbouring periods of the pitch to 80 samples, which leaves the voice and thins the noise between its
 * harmonics, and keeps the strength. Reads up to 2 × pitch + 6 samples before `start` and 46 after the span.
 */
export function sharpen(
  excitation: Float64Array,
  start: number,
  pitch: number,
  comb: number,
  output: Float64Array,
  to: number,
): void {
  const isLong = pitch > LONG_PITCH;
  mostAlike(excitation, start, pitch, near);
  mostAlike(excitation, start, isLong ? 2 * pitch : -pitch, far);

  const strength = Math.sqrt(1 + product(excitation, start, excitation, start));
  const nearShare = (isLong ? 0.7 : 0.6) * share(excitation, start, strength, near, comb);
  const farShare = (isLong ? 0.3 : 0.6) * share(excitation, start, strength, far, comb);
  for (let i = 0; i < SPAN; i += 1) output[to + i] = excitation[start + i]! + nearShare * near[i]! + farShare * far[i]!;

  const after = Math.max(1, rootMeanSquare(output, to, SPAN));
  const before = Math.max(1, rootMeanSquare(excitation, start, SPAN));
  const gain = Math.min(before, after) / after;
  for (let i = to; i < to + SPAN; i += 1) output[i]! *= gain;
}
