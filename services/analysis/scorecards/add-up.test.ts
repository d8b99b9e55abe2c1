import type { GivenAnswer } from '@call-analysis/proto/analysis/v1/GivenAnswer';
import { expect, it } from '@jest/globals';
import type { StoredScorecard } from './scorecard-store.ts';
import { addUp } from './totals.ts';

const [greeting, manners] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];

function question(uuid: string, weight: number, choices: [label: string, points: number, fails?: boolean][]) {
  return {
    uuid,
    text: uuid,
    weight,
    choices: choices.map(([label, points, auto_fail = false]) => ({ label, points, auto_fail })),
    decided: { by: 'model', role: 'operator', instructions: null, fallback: null },
  };
}

const scorecard = {
  sections: [
    {
      name: 'One',
      questions: [
        question(greeting, 3, [
          ['yes', 1],
          ['no', 0],
        ]),
      ],
    },
    {
      name: 'Two',
      questions: [
        question(manners, 1, [
          ['good', 2],
          ['rude', 0, true],
        ]),
      ],
    },
  ],
} as unknown as Pick<StoredScorecard, 'sections'>;

const given = (question_uuid: string, answer: string | null, decided_by = 'model'): GivenAnswer => ({
  question_uuid,
  ...(answer !== null && { answer }),
  decided_by,
  is_verified: false,
});

it("a person's answer replaces the machine's, and the rest keeps its points", () => {
  const machine = [given(greeting, 'no'), given(manners, 'good')];
  expect(addUp(scorecard, machine, [], false)).toMatchObject({ score: 25, sections: [0, 100] });
  expect(addUp(scorecard, machine, [given(greeting, 'yes', 'person')], false)).toMatchObject({
    score: 100,
    sections: [100, 100],
    questions: [
      { uuid: greeting, points: 1, maxPoints: 1 },
      { uuid: manners, points: 2, maxPoints: 2 },
    ],
  });
  expect(addUp(scorecard, machine, [given(greeting, null, 'person')], false)).toMatchObject({
    score: 100,
    sections: [null, 100],
  });
});

it('a person may fail a call and take a failure back; a phrase alone fails none', () => {
  const rude = [given(greeting, 'yes'), given(manners, 'rude')];
  expect(addUp(scorecard, rude, [], true)).toMatchObject({ score: 0, autoFailed: true });
  expect(addUp(scorecard, rude, [given(manners, 'good', 'person')], true)).toMatchObject({
    score: 100,
    autoFailed: false,
  });
  const suspected = [given(greeting, 'yes', 'rule'), given(manners, 'rude', 'fallback')];
  expect(addUp(scorecard, suspected, [], false)).toMatchObject({ autoFailed: false, autoFailSuspected: true });
  expect(addUp(scorecard, suspected, [given(manners, 'rude', 'person')], false)).toMatchObject({
    score: 0,
    autoFailed: true,
    autoFailSuspected: false,
  });
});

it('an answer that was not verified fails no call when a person has overruled the one that did', () => {
  const both = {
    sections: [
      {
        name: 'One',
        questions: [greeting, manners].map((uuid) =>
          question(uuid, 1, [
            ['good', 1],
            ['rude', 0, true],
          ]),
        ),
      },
    ],
  } as unknown as typeof scorecard;
  const machine = [{ ...given(greeting, 'rude'), is_verified: true }, given(manners, 'rude')];
  expect(addUp(both, machine, [], true)).toMatchObject({ score: 0, autoFailed: true });
  expect(addUp(both, machine, [given(greeting, 'good', 'person')], true)).toMatchObject({
    score: 50,
    autoFailed: false,
    autoFailSuspected: true,
  });
  expect(addUp(both, machine, [given(manners, 'good', 'person')], true)).toMatchObject({ score: 0, autoFailed: true });
});

it('names every unknown question, unknown label and repeated question', () => {
  const person = [
    given(greeting, 'maybe', 'person'),
    given('00000000-0000-7000-8000-00000000000f', 'yes', 'person'),
    given(manners, 'good', 'person'),
    given(manners, 'good', 'person'),
  ];
  expect(() => addUp(scorecard, [], person, false)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      details: {
        fields: [
          expect.objectContaining({ field: 'answers.0.answer' }),
          expect.objectContaining({ field: 'answers.1.question_uuid' }),
          expect.objectContaining({ field: 'answers.3.question_uuid' }),
        ],
      },
    }),
  );
});
