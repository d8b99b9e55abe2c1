import { notFound } from '@call-analysis/fault';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture } from '../../test/fixture.ts';

const uuid = '00000000-0000-4000-8000-0000000000f1';
const scorecard = { uuid: '00000000-0000-4000-8000-0000000000f2', name: 'One' };
const question = '00000000-0000-4000-8000-0000000000f3';
const sections = [{ name: 'A', questions: [{ uuid: question, choices: [{ label: 'Yes' }, { label: 'No' }] }] }];

let edge: Fixture;
let asked: (number | undefined)[] = [];

function analysisOf(revision: number) {
  return { scorecard: { ...scorecard, revision }, sections: [{ questions: [{ uuid: question }] }] };
}

beforeAll(async () => {
  edge = await openFixture();
  edge.scorecards.getScorecard = async ({ revision }) => {
    asked.push(revision);
    if (revision === 3) throw notFound('scorecard');
    return { scorecard: null, sections_json: JSON.stringify(sections) } as never;
  };
});
afterAll(() => edge.close());

async function choicesOf(revisions: readonly number[], role: 'ADMIN' | 'WORKFLOW_ENGINEER' = 'ADMIN') {
  edge.calls.getCall = async () => ({ uuid, audio: null, analyses: revisions.map(analysisOf), history: [] }) as never;
  const { status, body } = await edge.request('GET', `/api/v1/calls/${uuid}`, { role });
  expect(status).toBe(200);
  const analyses = body['analyses'] as { sections: { questions: { choices: unknown }[] }[] }[];
  return analyses.map((analysis) => analysis.sections[0]!.questions[0]!.choices);
}

describe('the questions of an analysis', () => {
  it('have the labels of the revision that they were answered by, for every role, and each revision is read once', async () => {
    const labels = ['Yes', 'No'];
    expect(await choicesOf([2, 1], 'WORKFLOW_ENGINEER')).toEqual([labels, labels]);
    expect(await choicesOf([2])).toEqual([labels]);
    expect(asked.toSorted()).toEqual([1, 2]);
  });

  it('have none while the scorecard cannot be read, and the call is shown', async () => {
    asked = [];
    expect(await choicesOf([3])).toEqual([null]);
    expect(await choicesOf([3])).toEqual([null]);
    expect(asked).toEqual([3, 3]);
  });
});
