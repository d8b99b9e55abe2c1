import { describe, expect, it } from '@jest/globals';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { areEqual, mix, voice } from '../test/voices.ts';
import { Crosstalk } from './crosstalk.ts';
import { meanSquare } from './sample-buffer.ts';

/** A conversation of 12 s: one party speaks in the first and the last third, the other in the second. */
const operator = voice(12, 1, [
  [0.2, 3.8],
  [8.2, 11.5],
]);
const client = voice(12, 2, [[4.2, 7.8]]);
const both = mix([operator, 1], [client, 1]);

function process(left: Float32Array, right: Float32Array, blockSamples = 4096) {
  const crosstalk = new Crosstalk();
  const parts: [Float32Array, Float32Array][] = [];
  for (let at = 0; at < left.length; at += blockSamples) {
    parts.push(crosstalk.push(left.slice(at, at + blockSamples), right.slice(at, at + blockSamples)));
  }
  parts.push(crosstalk.flush());
  const joined = (side: 0 | 1) => {
    const all = new Float32Array(parts.reduce((sum, part) => sum + part[side].length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part[side], at);
      at += part[side].length;
    }
    return all;
  };
  return { left: joined(0), right: joined(1), isDualMono: crosstalk.isDualMono };
}

/** The share of a channel's energy that remains. */
function share(after: Float32Array, before: Float32Array): number {
  return meanSquare(after) / meanSquare(before);
}

describe('crosstalk removal', () => {
  it('leaves two parties on separate channels unchanged', () => {
    const result = process(operator, client);
    expect(areEqual(result.left, operator)).toBe(true);
    expect(areEqual(result.right, client)).toBe(true);
    expect(result.isDualMono).toBe(false);
  });

  it('leaves both channels unchanged when both parties speak at the same time', () => {
    const one = voice(10, 3);
    const other = voice(10, 4);
    const result = process(one, other);
    expect(share(result.left, one)).toBe(1);
    expect(share(result.right, other)).toBe(1);
    expect(result.isDualMono).toBe(false);
  });

  it.each([
    ['the same samples', both, both],
    ['one of them half as loud', both, mix([both, 0.5])],
    ['one of them a third as loud, inverted', mix([both, -0.33]), both],
    ['one of them 20 ms later', both, mix([both, 1, 0.02])],
    ['separate noise on each', mix([both, 1], [voice(12, 8), 0.1]), mix([both, 0.8], [voice(12, 9), 0.1])],
  ])('detects one recording on both channels: %s', (_, left, right) => {
    const result = process(left, right);
    expect(result.isDualMono).toBe(true);
    expect(share(result.left, left) + share(result.right, right)).toBeGreaterThan(0.9);
    expect(share(result.left, left) + share(result.right, right)).toBeLessThan(1.1);
  });

  it.each([
    ['faint and without delay', 0.1, 0],
    ['louder and delayed', 0.3, 0.12],
  ])('silences the echo of the other party: %s', (_, gain, delay) => {
    const left = mix([operator, 1], [client, gain, delay]);
    const right = mix([client, 1], [operator, gain, delay]);
    const result = process(left, right);
    expect(result.isDualMono).toBe(false);
    // Each party's speech is complete; each echo is gone except for remainders at its edges.
    expect(share(result.left, operator)).toBeGreaterThan(0.97);
    expect(share(result.left, operator)).toBeLessThan(1.02);
    expect(share(result.right, client)).toBeGreaterThan(0.97);
    expect(share(result.right, client)).toBeLessThan(1.02);
  });

  it.each(
    [0, 0.25, 0.32, 0.5, 0.75, 1].flatMap((delay) => [-6, -10, -15, -20].map((decibels) => [delay, decibels] as const)),
  )('silences the echoes of both parties that are %d s late at %d dB', (delay, decibels) => {
    const gain = 10 ** (decibels / 20);
    const left = mix([operator, 1], [client, gain, delay]);
    const right = mix([client, 1], [operator, gain, 0.9 * delay]);
    const result = process(left, right);
    expect(result.isDualMono).toBe(false);
    expect(share(result.left, operator)).toBeCloseTo(1, 1);
    expect(share(result.right, client)).toBeCloseTo(1, 1);
    // What one party says has a third of the recording's time to itself on the other channel.
    const between = (samples: Float32Array, from: number, to: number) =>
      samples.subarray(from * SAMPLE_RATE_HZ, to * SAMPLE_RATE_HZ);
    expect(share(between(result.left, 5.3, 7.7), between(left, 5.3, 7.7))).toBeLessThan(0.02);
    expect(share(between(result.right, 1.3, 3.7), between(right, 1.3, 3.7))).toBeLessThan(0.02);
  });

  it('detects one recording on both channels, one of them a second later', () => {
    const left = mix([both, 1, 1]);
    const result = process(left, both);
    expect(result.isDualMono).toBe(true);
    expect(share(result.left, left) + share(result.right, both)).toBeLessThan(1.15);
  });

  it('treats a channel that only echoes the other as silent, not as the same recording', () => {
    const result = process(both, mix([both, 0.03, 0.05]));
    expect(result.isDualMono).toBe(false);
    expect(meanSquare(result.right)).toBeLessThan(0.02 * meanSquare(mix([both, 0.03])));
  });

  it('keeps speech over an echo', () => {
    const interjection = voice(12, 5, [[1.5, 2.2]]);
    const right = mix([operator, 0.1], [interjection, 1]);
    const result = process(operator, right);
    expect(share(result.right, interjection)).toBeGreaterThan(0.9);
  });

  it('decides the same for any block size and returns every sample', () => {
    const right = mix([client, 1], [operator, 0.1]);
    const one = process(operator, right, 160);
    const other = process(operator, right, 50_000);
    expect(areEqual(one.left, other.left) && areEqual(one.right, other.right)).toBe(true);
    expect(one.isDualMono).toBe(other.isDualMono);
    expect(one.left.length).toBe(operator.length);
    expect(process(new Float32Array(0), new Float32Array(0)).left.length).toBe(0);
    expect(process(operator.slice(0, 999), right.slice(0, 999)).left.length).toBe(999);
  });
});
