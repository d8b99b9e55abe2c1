import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { figuresOf, figuresOfQuestions, orderOf, type Pair } from './figures.ts';

const pairs = (answers: readonly (string | null)[], most = 40): fc.Arbitrary<Pair[]> =>
  fc.array(
    fc.record({ right: fc.constantFrom(...answers), given: fc.constantFrom(...answers), needsReview: fc.boolean() }),
    { minLength: 1, maxLength: most },
  );
const ANSWERS = ['Yes', 'Partly', 'No', null];

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function same(figure: number | null, expected: number): void {
  if (Number.isNaN(expected)) expect(figure).toBeNull();
  else expect(figure).toBeCloseTo(expected, 10);
}

describe('the figures of an evaluation follow their definitions', () => {
  it('for two answers: the correlation of the four-fold table, and kappa from observed and expected agreement', () => {
    fc.assert(
      fc.property(pairs(['Yes', 'No']), (sample) => {
        const count = (right: string, given: string) =>
          sample.filter((pair) => pair.right === right && pair.given === given).length;
        const [tp, fn, fp, tn] = [count('Yes', 'Yes'), count('Yes', 'No'), count('No', 'Yes'), count('No', 'No')];
        const { correlation, kappa } = figuresOf(sample);
        const spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn);
        same(correlation, spread === 0 ? NaN : (tp * tn - fp * fn) / Math.sqrt(spread));
        const n = sample.length;
        const observed = (tp + tn) / n;
        const expected = ((tp + fn) * (tp + fp) + (tn + fn) * (tn + fp)) / (n * n);
        same(kappa, (observed - expected) / (1 - expected));
      }),
    );
  });

  it('for any number of answers: the correlation of the indicators of all answers', () => {
    fc.assert(
      fc.property(pairs(ANSWERS), (sample) => {
        const covariance = (one: (pair: Pair) => string | null, other: (pair: Pair) => string | null) =>
          sum(
            ANSWERS.map((answer) => {
              const [x, y] = [one, other].map((side) => sample.map((pair) => (side(pair) === answer ? 1 : 0)));
              return mean(x!.map((value, index) => value * y![index]!)) - mean(x!) * mean(y!);
            }),
          );
        const right = (pair: Pair) => pair.right;
        const given = (pair: Pair) => pair.given;
        const spread = covariance(right, right) * covariance(given, given);
        const { correlation } = figuresOf(sample);
        same(correlation, spread < 1e-12 ? NaN : covariance(right, given) / Math.sqrt(spread));
      }),
    );
  });

  it('accuracy, balanced accuracy, the majority, the share for review, the accuracy of the rest and what is wrong in it', () => {
    fc.assert(
      fc.property(pairs(ANSWERS), (sample) => {
        const accuracyOf = (some: readonly Pair[]) => mean(some.map(({ right, given }) => (right === given ? 1 : 0)));
        const occurring = [...new Set(sample.map(({ right }) => right))];
        const figures = figuresOf(sample);
        expect(figures.n).toBe(sample.length);
        same(figures.accuracy, accuracyOf(sample));
        same(
          figures.balancedAccuracy,
          mean(occurring.map((answer) => accuracyOf(sample.filter(({ right }) => right === answer)))),
        );
        same(
          figures.majorityAccuracy,
          Math.max(...occurring.map((guess) => accuracyOf(sample.map((pair) => ({ ...pair, given: guess }))))),
        );
        same(figures.reviewShare, mean(sample.map(({ needsReview }) => (needsReview ? 1 : 0))));
        same(figures.restAccuracy, accuracyOf(sample.filter(({ needsReview }) => !needsReview)));
        const isUnmarkedWrong = ({ right, given, needsReview }: Pair) => !needsReview && right !== given;
        same(figures.unmarkedWrongShare, mean(sample.map((pair) => (isUnmarkedWrong(pair) ? 1 : 0))));
      }),
    );
  });

  it('are 1 for perfect answers, and no chance is counted where only one answer occurs', () => {
    const perfect = ['Yes', 'No', null].map((right) => ({ right, given: right, needsReview: false }));
    expect(figuresOf(perfect)).toMatchObject({ accuracy: 1, balancedAccuracy: 1, correlation: 1, kappa: 1 });
    expect(figuresOf(perfect.slice(0, 1))).toMatchObject({ accuracy: 1, correlation: null, kappa: null });
    expect(figuresOf([])).toMatchObject({ n: 0, accuracy: null, majorityAccuracy: null, restAccuracy: null });
  });

  it('of several questions compare with guessing the commonest answer of each question', () => {
    const answers = (right: string, times: number): Pair[] =>
      Array.from({ length: times }, () => ({ right, given: 'Yes', needsReview: false }));
    const figures = figuresOfQuestions(
      new Map([
        ['one', [...answers('Yes', 3), ...answers('No', 1)]],
        ['other', [...answers('No', 3), ...answers('Yes', 1)]],
      ]),
    );
    expect(figures).toMatchObject({ n: 8, accuracy: 0.5, majorityAccuracy: 0.75, kappa: null });
  });
});

it('only pairs with a score on both sides count for their order', () => {
  const call = (pair: string, handled: 'well' | 'badly', score: number | null) => ({ pair, handled, score });
  expect(
    orderOf([
      call('a', 'well', 80),
      call('a', 'badly', 20),
      call('b', 'well', 10),
      call('b', 'badly', 90),
      call('c', 'well', 50),
      call('c', 'badly', 50),
      call('d', 'well', null),
      call('d', 'badly', 50),
      call('e', 'well', 50),
    ]),
  ).toEqual({ pairs: 3, right: 1, equal: 1 });
});
