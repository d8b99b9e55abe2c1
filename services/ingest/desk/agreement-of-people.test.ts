import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { agreementOfPeople } from './agreement-of-people.ts';
import type { GivenAnswer } from './calibration-store.ts';

/** Answers by person and call: `yes`, `no`, null for "does not apply"; undefined is no answer. */
function answersOf(question: string, byPerson: readonly (readonly (string | null | undefined)[])[]): GivenAnswer[] {
  return byPerson.flatMap((given, person) =>
    given.flatMap((answer, call) =>
      answer === undefined
        ? []
        : [{ call_uuid: `call ${call}`, user_uuid: `person ${person}`, question_uuid: question, answer }],
    ),
  );
}

describe('the agreement of people', () => {
  it("is Fleiss' kappa of the textbook's example: 14 raters, 10 subjects, 5 categories", () => {
    // Fleiss (1971) as in Wikipedia's worked example: rows are subjects, columns how many raters chose a category.
    const table = [
      [0, 0, 0, 0, 14],
      [0, 2, 6, 4, 2],
      [0, 0, 3, 5, 6],
      [0, 3, 9, 2, 0],
      [2, 2, 8, 1, 1],
      [7, 7, 0, 0, 0],
      [3, 2, 6, 3, 0],
      [2, 5, 3, 2, 2],
      [6, 5, 2, 1, 0],
      [0, 2, 2, 3, 7],
    ];
    const answers = table.flatMap((counts, call) =>
      counts
        .flatMap((count, category) => Array.from({ length: count }, () => String(category)))
        .map((answer, person) => ({
          call_uuid: `call ${call}`,
          user_uuid: `person ${person}`,
          question_uuid: 'question',
          answer,
        })),
    );
    const [question] = agreementOfPeople(answers).questions;
    expect(question!.kappa).toBeCloseTo(0.21, 2);
    expect(question!.agreement).toBeCloseTo(0.378, 3);
    expect(question!.n).toBe(140);
  });

  it('is complete where all agree, and has no kappa where there is one answer alone', () => {
    const same = answersOf('q', [
      ['yes', null],
      ['yes', null],
    ]);
    expect(agreementOfPeople(same).questions).toEqual([{ uuid: 'q', n: 4, agreement: 1, kappa: 1 }]);
    const always = answersOf('q', [
      ['yes', 'yes'],
      ['yes', 'yes'],
    ]);
    expect(agreementOfPeople(always).questions).toEqual([{ uuid: 'q', n: 4, agreement: 1, kappa: null }]);
  });

  it('tells who differs: the one whose answers no one shares', () => {
    const { people, calls } = agreementOfPeople(answersOf('q', [['yes'], ['yes'], ['no']]));
    expect(people).toEqual([
      { user_uuid: 'person 0', n: 1, agreement: 0.5 },
      { user_uuid: 'person 1', n: 1, agreement: 0.5 },
      { user_uuid: 'person 2', n: 1, agreement: 0 },
    ]);
    expect(calls).toEqual([{ call_uuid: 'call 0', n: 3, agreement: 1 / 3 }]);
  });

  it('is from 0 to 1, kappa from -1 to 1, and both are null for a single person', () => {
    const answer = fc.constantFrom('yes', 'no', null, undefined);
    fc.assert(
      fc.property(
        fc.array(fc.array(answer, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
        (given) => {
          const { questions, people, calls } = agreementOfPeople(answersOf('q', given));
          for (const { agreement } of [...questions, ...people, ...calls])
            expect(agreement === null || (agreement >= 0 && agreement <= 1)).toBe(true);
          for (const { kappa } of questions) expect(kappa === null || (kappa >= -1 && kappa <= 1 + 1e-9)).toBe(true);
          if (given.length === 1)
            for (const { agreement, kappa } of questions) expect([agreement, kappa]).toEqual([null, null]);
        },
      ),
    );
  });
});
