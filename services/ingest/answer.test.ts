import { CallDetail, CallItem, CallPage } from '@call-analysis/api/calls';
import { CampaignItem, CampaignPage } from '@call-analysis/api/campaigns';
import { pageFields } from '@call-analysis/api/fields';
import { Job } from '@call-analysis/api/jobs';
import { Agreement, CommentPage, CommentSchema, ComparedCallPage, WholeReview } from '@call-analysis/api/people';
import { Statistics } from '@call-analysis/api/statistics';
import { BatchItem } from '@call-analysis/api/uploads';
import { ReviewedAnalysis } from '@call-analysis/events';
import { beforeAll, expect, it } from '@jest/globals';
import { z } from 'zod';
import { analyzeCalls } from './jobs/start-jobs.ts';
import { NO_FILTER } from './listing/call-filter.ts';
import { projectAnalyses } from './results/project-results.ts';
import { reviewRpcs } from './reviews/review-rpcs.ts';
import { csvOf } from './test/csv.ts';
import { analysis, callAnalyzed, question } from './test/events.ts';
import { IngestUnderTest } from './test/ingest-under-test.ts';

const service = new IngestUnderTest({ serving: true });
const owner = service.newOwner();
const caller = { firm_uuid: owner.firmUuid, user_uuid: owner.userUuid, address: '192.0.2.7', reads_json: true };
const page = { page: 1, size: 10 };
let call_uuid: string;

beforeAll(async () => {
  await service.upload(owner, csvOf([{ anonymized_text: '<operator>Hello<client>Hi', partner_call_id: 'crm-1' }]));
  call_uuid = (await service.callsOf(owner))[0]!.uuid;
  const sections = [
    {
      name: 'All',
      score: 100,
      questions: [{ ...question, answer: 'yes', points: 1 }],
    },
  ];
  const call = { owner, uuid: call_uuid };
  const event = callAnalyzed(call, { attempt: 1, analysis: { ...analysis, score: 100, sections } });
  await projectAnalyses(service.deps, [event]);
  const scorecards = {
    addUp: async () => ({
      score: 0,
      auto_failed: false,
      auto_fail_suspected: false,
      sections: [{ score: 0 }],
      questions: [{ question_uuid: question.uuid, points: 0, max_points: 1 }],
    }),
  };
  const { reviewAnalysis } = reviewRpcs({ ...service.deps, scorecards });
  const answers = [{ question_uuid: question.uuid, answer: 'no' }];
  for (const said of [{}, { done: true }]) {
    const json = JSON.stringify({ analysis_uuid: event.data.analysis_uuid, answers, ...said });
    const reviewed = await reviewAnalysis({ caller: { ...caller, role: 'ADMIN' }, path: [call_uuid], json });
    expect(JSON.parse(reviewed.json.toString())).toMatchObject({ review: { comment: null, done: false, ...said } });
  }
});

/** The answer has the shape of the API, with no field more. */
function expectShape(schema: z.ZodType, { json }: { readonly json?: Buffer }): unknown {
  const answer = JSON.parse(json!.toString()) as unknown;
  expect(schema.parse(answer)).toEqual(answer);
  return answer;
}

it('a call has the shape of the API, in a list and alone', async () => {
  const listed = await service.client.listCalls({ caller, ...page });
  const { items } = expectShape(CallPage, listed) as { items: [object] };
  expect(Object.keys(items[0])).toEqual(Object.keys(CallItem.shape));
  expect(items[0]).toMatchObject({ partner_call_id: 'crm-1', batch_id: expect.any(String), score_source: 'reviewed' });
  const found = await service.client.getCall({ caller, call_uuid });
  // The gateway adds to each question its choices, and says which analysis is the current one.
  const Stored = CallDetail.extend({
    analysis: z.null(),
    analyses: z.array(ReviewedAnalysis.extend({ questions: z.int(), answered: z.int() })),
  });
  const detail = expectShape(Stored, found) as object;
  expect(Object.keys(detail)).toEqual(Object.keys(CallDetail.shape));
  expect(detail).toMatchObject({ transcript: { utterances: [{ index: 0, role: 'operator', doubtful: false }, {}] } });
});

it('a gateway of the last release gets the same call by the fields of a message', async () => {
  const former = { ...caller, reads_json: false };
  const { json, items } = await service.client.listCalls({ caller: former, ...page });
  expect(json).toBeUndefined();
  expect(items).toMatchObject([{ uuid: call_uuid, batch_uuid: expect.any(String) }]);
  const found = await service.client.getCall({ caller: former, call_uuid });
  expect(found.call).toMatchObject({ uuid: call_uuid, partner_call_id: 'crm-1' });
  expect(JSON.parse(found.transcript_json!)).toMatchObject({ utterances: [{ role: 'operator' }, {}] });
  expect(found.analyses_json.map((each) => ReviewedAnalysis.parse(JSON.parse(each)).score)).toEqual([0]);
});

it('batches, jobs, campaigns, comments, reviews and statistics have the shapes of the API', async () => {
  const { client } = service;
  const request = (uuid: string | null, json: object) => ({
    caller,
    path: uuid === null ? [] : [uuid],
    json: JSON.stringify(json),
  });
  const Stored = BatchItem.extend({ rejected_csv_url: z.string().nullable() });
  const batches = expectShape(z.object(pageFields(Stored)), await client.listBatches({ caller, ...page })) as {
    items: [{ batch_id: string }];
  };
  expectShape(Stored, await client.getBatch({ caller, batch_uuid: batches.items[0].batch_id }));
  const scorecards = { requireActive: async () => {} };
  const actor = { ...owner, address: '192.0.2.7' };
  const job_uuid = await analyzeCalls({ ...service.deps, scorecards }, actor, NO_FILTER);
  expectShape(Job, await client.getJob(request(job_uuid, {})));
  expectShape(CampaignItem, await client.createCampaign({ caller, name: 'Spring' }));
  expectShape(CampaignPage, await client.listCampaigns({ caller, ...page }));
  expectShape(CommentSchema, await client.addComment(request(call_uuid, { text: 'Good.' })));
  expectShape(CommentPage, await client.listComments(request(call_uuid, page)));
  expectShape(WholeReview, await client.readReview(request(call_uuid, {})));
  const scorecard = analysis.scorecard.uuid;
  const agreed = expectShape(Agreement, await client.measureAgreement(request(scorecard, {})));
  expect(agreed).toMatchObject({ reviewed_calls: 1, questions: [{ uuid: question.uuid }] });
  const compared = await client.listComparedCalls(request(scorecard, { question: question.uuid, ...page }));
  expect(expectShape(ComparedCallPage, compared)).toMatchObject({ count: 1 });
  const asked = request(null, { group_by: 'operator_name', tz: 'UTC', limit: 10 });
  expectShape(Statistics, await client.readStatistics(asked));
});
