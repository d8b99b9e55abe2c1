import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { analyzeCall } from '../calls/analyze-call.ts';
import { csvOf } from '../test/csv.ts';
import { analysis, type Call, callAnalyzed } from '../test/events.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { projectAnalyses } from './project-results.ts';
import { RecentFacts } from './recent-facts.ts';

const service = new IngestUnderTest();

async function uploaded(): Promise<Call> {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{}]));
  return { owner, uuid: (await service.callsOf(owner))[0]!.uuid };
}

const question = {
  uuid: uuidv7(),
  text: 'Did the operator greet the client?',
  weight: 1,
  answer: 'No',
  decided_by: 'rule' as const,
  confidence: 0.5,
  points: 0.5,
  max_points: 2,
  not_applicable: false,
  evidence: [],
  evidence_absent: true,
  needs_review: true,
  explanation: '',
};

const rich = {
  ...analysis,
  sections: [{ name: 'Manners', score: 25, questions: [question] }],
  topics: ['delivery', 'price'],
  resolution: 'resolved' as const,
  auto_failed: true,
  sentiment: { operator: 0.5, client: -0.25 },
};

async function index({ owner }: Call): Promise<void> {
  const { search } = service.parts.store;
  await search.catchUp(owner.firmUuid, { words: false, withinMs: 60_000 });
  for (let settled = 1; settled > 0;) settled = await search.settleEntries(owner.firmUuid, null);
}

async function entryOf({ uuid }: Call): Promise<unknown[]> {
  return [
    await service.db.query('SELECT * FROM call_search WHERE uuid = $1', [uuid]),
    await service.db.query('SELECT * FROM call_points WHERE uuid = $1', [uuid]),
  ];
}

/** Has the call indexed again, from what is stored. */
async function indexAgain(call: Call): Promise<void> {
  for (const table of ['call_search', 'call_points'])
    await service.db.query(`DELETE FROM ${table} WHERE uuid = $1`, [call.uuid]);
  await service.db.query('INSERT INTO call_change (firm_uuid, first, last) VALUES ($1, $2, $2)', [
    call.owner.firmUuid,
    call.uuid,
  ]);
  await index(call);
}

it('an entry is the same whether it is made from recent facts or from the stored analysis', async () => {
  const call = await uploaded();
  await projectAnalyses(service.parts, [callAnalyzed(call, { analysis: rich })]);
  await index(call);
  const [entries, points] = await entryOf(call);
  expect(entries).toMatchObject([{ open_answers: 1, auto_failed: true, client_sentiment: -25 }]);
  expect(points).toMatchObject([{ points: ['500'], max_points: ['2000'] }]);
  await indexAgain(call);
  expect(await entryOf(call)).toEqual([entries, points]);
});

it('facts of an analysis that is not the current one are not used', async () => {
  const call = await uploaded();
  await projectAnalyses(service.parts, [callAnalyzed(call, { analysis })]);
  await analyzeCall(service.parts, call.owner.firmUuid, call.uuid);
  await projectAnalyses(service.parts, [callAnalyzed(call, { attempt: 2, analysis: rich })]);
  // The first attempt is over, so this changes nothing.
  await projectAnalyses(service.parts, [callAnalyzed(call, { analysis: { ...rich, auto_failed: false, topics: [] } })]);
  await index(call);
  expect((await entryOf(call))[0]).toMatchObject([{ open_answers: 1, auto_failed: true }]);
});

it('only the newest are kept, each until it is taken', () => {
  const recent = new RecentFacts();
  const calls = Array.from({ length: 5_001 }, () => randomUUID());
  for (const call of calls) recent.add(call, { uuid: call, facts: null });
  expect(recent.take(calls[0]!)).toBeUndefined();
  expect(recent.take(calls[1]!)).toEqual({ uuid: calls[1], facts: null });
  expect(recent.take(calls[1]!)).toBeUndefined();
  expect(recent.take(calls[5_000]!)).toBeDefined();
});
