import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { agreementOf } from './compare-answers.ts';

it('agreement and kappa of a worked example', () => {
  const confusion = [
    { machine: 'yes', person: 'yes', count: 20 },
    { machine: 'yes', person: 'no', count: 5 },
    { machine: 'no', person: 'yes', count: 10 },
    { machine: 'no', person: 'no', count: 15 },
  ];
  const { n, agreement, kappa } = agreementOf(confusion);
  expect([n, agreement]).toEqual([50, 0.7]);
  expect(kappa).toBeCloseTo(0.4, 12);
});

it('kappa has no meaning where both always give one answer, and none without answers', () => {
  expect(agreementOf([{ machine: null, person: null, count: 9 }])).toEqual({ n: 9, agreement: 1, kappa: null });
  expect(agreementOf([])).toEqual({ n: 0, agreement: 0, kappa: null });
});

it('kappa equals its definition by shares, and is at most 1', () => {
  const label = fc.constantFrom('yes', 'no', 'partly', null);
  fc.assert(
    fc.property(fc.array(fc.tuple(label, label), { minLength: 1, maxLength: 60 }), (pairs) => {
      const confusion = pairs.map(([machine, person]) => ({ machine, person, count: 1 }));
      const share = (which: 0 | 1, wanted: string | null) =>
        pairs.filter((pair) => pair[which] === wanted).length / pairs.length;
      const observed = pairs.filter(([machine, person]) => machine === person).length / pairs.length;
      const chance = ['yes', 'no', 'partly', null].reduce((sum, each) => sum + share(0, each) * share(1, each), 0);
      const { kappa, agreement } = agreementOf(confusion);
      expect(agreement).toBeCloseTo(observed, 10);
      if (kappa === null) expect(chance).toBeCloseTo(1, 10);
      else expect(kappa).toBeCloseTo((observed - chance) / (1 - chance), 8);
    }),
  );
});
