import { expect, it } from '@jest/globals';
import { defaultScorecard } from '../../scorecards/default-scorecard.ts';
import { fetchReviewedCalls } from './reviewed-calls.ts';

const [greeting, introduction, need] = defaultScorecard.sections[0]!.questions;
const SCORECARD = '7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b10';

function call(uuid: string, done: boolean) {
  const answer = (question: string, label: string | null, decided_by: string) => ({
    uuid: question,
    answer: label,
    not_applicable: false,
    decided_by,
  });
  return {
    uuid,
    language: 'en',
    operator_name: 'Dana',
    segment_type: 'support',
    duration: 60,
    transcript: { utterances: [{ role: 'operator', text: 'Hello.', start: null, end: null }] },
    analysis: {
      scorecard: { uuid: SCORECARD, name: 'Quality', revision: 2 },
      review: { done },
      sections: [
        {
          questions: [
            answer(greeting!.uuid, 'No', 'person'),
            answer(introduction!.uuid, 'Yes', 'rule'),
            answer(need!.uuid, null, 'model'),
          ],
        },
      ],
    },
  };
}

it('reviews of a service are right answers: those of a person, and in a finished review those left as they were', async () => {
  const [first, second] = ['7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b11', '7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b12'];
  const asked: string[] = [];
  const answers = new Map<string, unknown>([
    ['/api/v1/calls?reviewed=true&size=100', { items: [{ uuid: first }], next_cursor: 'a b' }],
    ['/api/v1/calls?reviewed=true&size=100&cursor=a%20b', { items: [{ uuid: second }], next_cursor: null }],
    [`/api/v1/calls/${first}`, call(first!, false)],
    [`/api/v1/calls/${second}`, call(second!, true)],
    [`/api/v1/scorecards/${SCORECARD}?revision=2`, { ...defaultScorecard, uuid: SCORECARD, is_active: true }],
  ]);
  const reviewed = await fetchReviewedCalls(async (path) => {
    asked.push(path);
    return answers.get(path);
  });
  expect(asked.filter((path) => path.includes('scorecards'))).toHaveLength(1);
  expect(reviewed.map(({ conversations }) => conversations.map(({ answers: right }) => right))).toEqual([
    [{ [greeting!.uuid]: 'No' }, { [greeting!.uuid]: 'No', [introduction!.uuid]: 'Yes' }],
  ]);
});
