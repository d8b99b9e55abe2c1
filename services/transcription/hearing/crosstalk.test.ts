import { describe, expect, it } from '@jest/globals';
import { Crosstalk } from './crosstalk.ts';
import { meanSquare } from './mean-square.ts';
import { areEqual, mix, voice } from './test/voices.ts';

/** A conversation of 12 s: one speaks in the first and the last third, the other in the second. */
const operator = voice(12, 1, [
  [0.2, 3.8],
  [8.2, 11.5],
]);
const client = voice(12, 2, [[4.2, 7.8]]);
const both = mix([operator, 1], [client, 1]);

function heard(left: Float32Array, right: Float32Array, pieceSamples = 4096) {
  const crosstalk = new Crosstalk();
  const parts: [Float32Array, Float32Array][] = [];
  for (let at = 0; at < left.length; at += pieceSamples) {
    parts.push(crosstalk.push(left.slice(at, at + pieceSamples), right.slice(at, at + pieceSamples)));
  }
  parts.push(crosstalk.flush());
  const joined = (side: 0 | 1) => {
    const whole = new Float32Array(parts.reduce((sum, part) => sum + part[side].length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part[side], at);
      at += part[side].length;
    }
    return whole;
  };
  return { left: joined(0), right: joined(1), oneSound: crosstalk.oneSound };
}

/** How much of a channel is left. */
function share(after: Float32Array, before: Float32Array): number {
  return meanSquare(after) / meanSquare(before);
}

describe('crosstalk', () => {
  it('leaves two parties on two channels as they are', () => {
    const result = heard(operator, client);
    expect(areEqual(result.left, operator)).toBe(true);
    expect(areEqual(result.right, client)).toBe(true);
    expect(result.oneSound).toBe(false);
  });

  it('leaves both as they are when they speak at once', () => {
    const one = voice(10, 3);
    const other = voice(10, 4);
    const result = heard(one, other);
    expect(share(result.left, one)).toBe(1);
    expect(share(result.right, other)).toBe(1);
    expect(result.oneSound).toBe(false);
  });

  it.each([
    ['the same samples', both, both],
    ['one of them half as loud', both, mix([both, 0.5])],
    ['one of them a third as loud, the other way up', mix([both, -0.33]), both],
    ['one of them 20 ms later', both, mix([both, 1, 0.02])],
    ['some noise of its own on each', mix([both, 1], [voice(12, 8), 0.1]), mix([both, 0.8], [voice(12, 9), 0.1])],
  ])('knows one recording on both channels: %s', (_, left, right) => {
    const result = heard(left, right);
    expect(result.oneSound).toBe(true);
    expect(share(result.left, left) + share(result.right, right)).toBeGreaterThan(0.9);
    expect(share(result.left, left) + share(result.right, right)).toBeLessThan(1.1);
  });

  it.each([
    ['faint and at once', 0.1, 0],
    ['louder and late', 0.3, 0.12],
  ])('silences the echo of the other party: %s', (_, gain, delay) => {
    const left = mix([operator, 1], [client, gain, delay]);
    const right = mix([client, 1], [operator, gain, delay]);
    const result = heard(left, right);
    expect(result.oneSound).toBe(false);
    // What each says is whole, what each echoes is gone but for a remainder at its edges.
    expect(share(result.left, operator)).toBeGreaterThan(0.97);
    expect(share(result.left, operator)).toBeLessThan(1.02);
    expect(share(result.right, client)).toBeGreaterThan(0.97);
    expect(share(result.right, client)).toBeLessThan(1.02);
  });

  it('takes a channel that only echoes the other for silent, not for the same recording', () => {
    const result = heard(both, mix([both, 0.03, 0.05]));
    expect(result.oneSound).toBe(false);
    expect(meanSquare(result.right)).toBeLessThan(0.02 * meanSquare(mix([both, 0.03])));
  });

  it('keeps what is said into an echo', () => {
    const interjection = voice(12, 5, [[1.5, 2.2]]);
    const right = mix([operator, 0.1], [interjection, 1]);
    const result = heard(operator, right);
    expect(share(result.right, interjection)).toBeGreaterThan(0.9);
  });

  it('decides alike however the samples are cut, and gives each back', () => {
    const right = mix([client, 1], [operator, 0.1]);
    const one = heard(operator, right, 160);
    const other = heard(operator, right, 50_000);
    expect(areEqual(one.left, other.left) && areEqual(one.right, other.right)).toBe(true);
    expect(one.oneSound).toBe(other.oneSound);
    expect(one.left.length).toBe(operator.length);
    expect(heard(new Float32Array(0), new Float32Array(0)).left.length).toBe(0);
    expect(heard(operator.slice(0, 999), right.slice(0, 999)).left.length).toBe(999);
  });
});
