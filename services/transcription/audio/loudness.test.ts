import { describe, expect, it } from '@jest/globals';
import { areEqual, mix, voice } from '../test/voices.ts';
import { Loudness } from './loudness.ts';
import { meanSquare } from './mean-square.ts';

function raised(left: Float32Array, right: Float32Array): [Float32Array, Float32Array] {
  const result: [Float32Array, Float32Array] = [left.slice(), right.slice()];
  new Loudness().raise(...result);
  return result;
}

const decibels = (samples: Float32Array) => 10 * Math.log10(meanSquare(samples));
const speech = voice(4, 1);
const silence = new Float32Array(speech.length);

describe('loudness correction', () => {
  it('leaves a recording unchanged that is loud enough', () => {
    const [left, right] = raised(speech, silence);
    expect(areEqual(left, speech) && areEqual(right, silence)).toBe(true);
  });

  it('amplifies both channels of a quiet recording by the same gain', () => {
    const [left, right] = raised(mix([speech, 0.01]), mix([voice(4, 2), 0.001]));
    expect(decibels(left)).toBeGreaterThan(decibels(speech) - 20);
    expect(decibels(left) - decibels(right)).toBeCloseTo(20, 0);
  });

  it('never exceeds full scale and keeps silence silent', () => {
    const peaks = Float32Array.from({ length: 8000 }, (_, at) => (at % 4000 === 0 ? 0.9 : 0));
    for (const sample of raised(peaks, silence)[0]) expect(Math.abs(sample)).toBeLessThanOrEqual(1);
    expect(areEqual(raised(silence, silence)[0], silence)).toBe(true);
  });
});
