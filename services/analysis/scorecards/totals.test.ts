import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { computeTotals, type ScoredAnswer } from './totals.ts';

const scored = fc
  .record({
    weight: fc.double({ min: 0.01, max: 1000, noNaN: true }),
    maxPoints: fc.double({ min: 0.01, max: 1000, noNaN: true }),
    share: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null }),
  })
  .map(({ weight, maxPoints, share }): ScoredAnswer => ({
    weight,
    maxPoints,
    points: share === null ? null : share * maxPoints,
    autoFail: null,
  }));
const sections = fc.array(fc.array(scored, { maxLength: 8 }), { maxLength: 4 });
const notApplicable: ScoredAnswer = { weight: 7, points: null, maxPoints: 1, autoFail: 'proved' };

describe('totals', () => {
  it('weight the share of points of each answer', () => {
    const totals = computeTotals([
      [
        { weight: 3, points: 1, maxPoints: 1, autoFail: null },
        { weight: 1, points: 0, maxPoints: 5, autoFail: null },
      ],
      [{ weight: 2, points: 1, maxPoints: 3, autoFail: null }],
    ]);
    expect(totals).toEqual({ score: 61.1, sections: [75, 33.3], autoFailed: false, autoFailSuspected: false });
  });

  it('are null where no question applies', () => {
    expect(computeTotals([[notApplicable], []])).toEqual({
      score: null,
      sections: [null, null],
      autoFailed: false,
      autoFailSuspected: false,
    });
  });

  it('are 0 after an auto-fail, which does not change the scores of the sections', () => {
    const failed: ScoredAnswer = { weight: 1, points: 0, maxPoints: 1, autoFail: 'proved' };
    expect(computeTotals([[{ weight: 9, points: 1, maxPoints: 1, autoFail: null }], [failed]])).toEqual({
      score: 0,
      sections: [100, 0],
      autoFailed: true,
      autoFailSuspected: false,
    });
  });

  it('are between 0 and 100 with one decimal', () => {
    fc.assert(
      fc.property(sections, (answers) => {
        const { score, sections: parts } = computeTotals(answers);
        for (const value of [score, ...parts]) {
          if (value === null) continue;
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(100);
          expect(Math.round(value * 10) / 10).toBe(value);
        }
      }),
    );
  });

  it('never decrease when an answer gets more points', () => {
    fc.assert(
      fc.property(fc.array(scored, { minLength: 1, maxLength: 8 }), fc.nat(), (answers, pick) => {
        const chosen = pick % answers.length;
        const better = answers.map((answer, at) =>
          at === chosen && answer.points !== null ? { ...answer, points: answer.maxPoints } : answer,
        );
        expect(computeTotals([better]).score ?? 0).toBeGreaterThanOrEqual(computeTotals([answers]).score ?? 0);
      }),
    );
  });

  it('are as if there were no auto-fail while one is only suspected', () => {
    const suspected: ScoredAnswer = { weight: 1, points: 0, maxPoints: 1, autoFail: 'suspected' };
    const totals = computeTotals([[{ weight: 9, points: 1, maxPoints: 1, autoFail: null }, suspected]]);
    expect(totals).toMatchObject({ score: 90, autoFailed: false, autoFailSuspected: true });
  });

  it('do not depend on the unit of the weights', () => {
    fc.assert(
      fc.property(sections, fc.constantFrom(0.125, 0.5, 2, 64), (answers, factor) => {
        const scaled = answers.map((part) => part.map((answer) => ({ ...answer, weight: answer.weight * factor })));
        expect(computeTotals(scaled)).toEqual(computeTotals(answers));
      }),
    );
  });

  it('ignore a question that does not apply', () => {
    fc.assert(
      fc.property(sections, (answers) => {
        expect(computeTotals(answers.map((part) => [...part, notApplicable]))).toEqual(computeTotals(answers));
      }),
    );
  });
});
