import { describe, expect, it } from '@jest/globals';
import { sound } from '../test/sounds.ts';
import { areEqual, mix, voice } from '../test/voices.ts';
import { Loudness } from './loudness.ts';
import { meanSquare } from './sample-buffer.ts';

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

  it.each([0.05, 0.1, 0.13, 1])('amplifies a quiet voice after a key tone of %d s as without it', (seconds) => {
    const quiet = mix([speech, 0.03]);
    for (const begins of [0, 0.1, 0.2, 0.244]) {
      const key = sound(begins + seconds, (time) =>
        time < begins ? 0 : 0.1 * (Math.sin(2 * Math.PI * 770 * time) + Math.sin(2 * Math.PI * 1336 * time)),
      );
      const without = new Float32Array(key.length + quiet.length);
      without.set(quiet, key.length);
      const both = without.slice();
      both.set(key);
      // The step with the end of the tone is amplified less.
      const after = (samples: Float32Array) =>
        decibels(raised(samples, new Float32Array(samples.length))[0].slice(key.length + 4_000));
      expect(after(without)).toBeGreaterThan(decibels(quiet) + 10);
      expect(Math.abs(after(both) - after(without))).toBeLessThan(2);
    }
  });

  it('never exceeds full scale and keeps silence silent', () => {
    const peaks = Float32Array.from({ length: 8000 }, (_, at) => (at % 4000 === 0 ? 0.9 : 0));
    for (const sample of raised(peaks, silence)[0]) expect(Math.abs(sample)).toBeLessThanOrEqual(1);
    expect(areEqual(raised(silence, silence)[0], silence)).toBe(true);
  });
});
