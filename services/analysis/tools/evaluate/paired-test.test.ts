import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { compareAnswers } from './report.ts';

/** The probability that fair tosses split at least as unevenly, by counting all outcomes. */
function byCounting(one: number, other: number): number {
  const n = one + other;
  const row = [1n];
  for (let k = 0; k < n; k += 1) row.push((row[k]! * BigInt(n - k)) / BigInt(k + 1));
  const asUneven = row.filter((_, k) => Math.min(k, n - k) <= Math.min(one, other));
  const outcomes = asUneven.reduce((total, count) => total + count, 0n);
  return Number((outcomes * 10n ** 15n) / 2n ** BigInt(n)) / 1e15;
}

it('the p of a paired test counts all outcomes that are as uneven, and ignores answers on which both agree', () => {
  fc.assert(
    fc.property(fc.nat(60), fc.nat(60), fc.nat(20), fc.nat(20), (firstOnly, secondOnly, both, neither) => {
      const answers = (first: boolean, second: boolean, times: number) =>
        Array.from({ length: times }, () => [first, second] as const);
      const all = [
        ...answers(true, false, firstOnly),
        ...answers(false, true, secondOnly),
        ...answers(true, true, both),
        ...answers(false, false, neither),
      ];
      const test = compareAnswers(
        all.map(([first]) => first),
        all.map(([, second]) => second),
      );
      expect(test).toMatchObject({ firstOnly, secondOnly });
      expect(test.p).toBeCloseTo(byCounting(firstOnly, secondOnly), 9);
    }),
  );
});

it('a known table has its known p', () => {
  const first = [...Array(10).fill(true), ...Array(2).fill(false)];
  expect(
    compareAnswers(
      first,
      first.map((each) => !each),
    ).p,
  ).toBeCloseTo(0.038574, 6);
});

it('thousands of differences do not overflow', () => {
  const first = Array.from({ length: 5000 }, (_, index) => index % 5 !== 0);
  const { p } = compareAnswers(
    first,
    first.map((each) => !each),
  );
  expect(p).toBeGreaterThanOrEqual(0);
  expect(p).toBeLessThan(1e-100);
});
