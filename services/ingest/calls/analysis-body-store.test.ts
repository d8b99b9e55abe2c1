import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type PublishedAnalysis, receivedAnalysis } from '@call-analysis/events';
import { beforeAll, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { projectAnalyses } from '../results/project-results.ts';
import { csvOf } from '../test/csv.ts';
import { analysis, type Call, callAnalyzed } from '../test/events.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { readCall } from './read-call.ts';

const service = new IngestUnderTest();
let owner: Call['owner'];
let calls: Call[];

beforeAll(async () => {
  owner = service.newOwner();
  await service.upload(owner, csvOf([{}, {}, {}, {}]));
  calls = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
});

/** An analysis of forty questions, in which the word was said. */
function answered(word: string): PublishedAnalysis {
  const question = (number: number) => ({
    uuid: `00000000-0000-4000-8000-0000000000${String(number).padStart(2, '0')}`,
    text: `What was asked as number ${number} of all questions?`,
    weight: 1 + number,
    answer: `Label of ${word}`,
    decided_by: 'model' as const,
    confidence: 0.25,
    points: 0.5,
    max_points: 1,
    not_applicable: false,
    evidence: [{ utterance: number, quote: `quote of ${word}`, start_char: 1, end_char: 9 }],
    evidence_absent: false,
    needs_review: true,
    explanation: `Because of ${word}.`,
  });
  const questions = Array.from({ length: 40 }, (_, number) => question(number));
  const sections = [{ name: 'Opening', score: 50, questions }];
  return { ...analysis, sections, summary: `Summary of ${word}`, reason: `Reason of ${word}`, topics: [word] };
}

async function analyzed(call: Call, word: string, revision = 1): Promise<PublishedAnalysis> {
  const made = { ...answered(word), scorecard: { ...analysis.scorecard, revision } };
  await projectAnalyses(service.deps, [callAnalyzed(call, { analysis: made })]);
  return made;
}

const forms = () =>
  service.db.query<{ id: number; body: Buffer }>('SELECT id, body FROM analysis_form WHERE firm_uuid = $1', [
    owner.firmUuid,
  ]);
const bodyOf = async ({ uuid }: Call) =>
  (await service.db.query<{ body: Buffer }>('SELECT body FROM analysis WHERE call_uuid = $1', [uuid]))[0]!.body;
const read = async (call: Call) => (await readCall(service.deps, owner.firmUuid, call.uuid)).analyses[0];

it('analyses under a revision share a form without anything that was said, and are read as they were', async () => {
  const words = ['apricot', 'bergamot'];
  const made = [await analyzed(calls[0]!, words[0]!), await analyzed(calls[1]!, words[1]!)];
  const [form, ...others] = await forms();
  expect(others).toEqual([]);
  const text = inflateRawSync(form!.body).toString();
  expect(text).toContain('What was asked as number 39 of all questions?');
  for (const word of words) expect(text).not.toContain(word);
  for (const [at, published] of made.entries()) {
    expect(await read(calls[at]!)).toMatchObject(receivedAnalysis(published));
    const alone = deflateRawSync(JSON.stringify(receivedAnalysis(published)), { level: 1 });
    expect((await bodyOf(calls[at]!)).length).toBeLessThan(0.6 * alone.length);
  }
});

it('a form is not used again when the transaction that made it was rolled back', async () => {
  const [call] = calls.slice(2);
  const complete = service.deps.db.transaction(async (tx) => {
    const of = { analysisUuid: uuidv7(), firmUuid: owner.firmUuid, callUuid: call!.uuid, attempt: 1, at: new Date() };
    const made = receivedAnalysis({ ...answered('x'), scorecard: { ...analysis.scorecard, revision: 2 } });
    await service.deps.results.complete(tx, [{ ...of, outcome: 'scored', language: 'en', score: 50, analysis: made }]);
    throw new Error('rolled back');
  });
  await expect(complete).rejects.toThrow('rolled back');
  const made = await analyzed(call!, 'cherry', 2);
  expect(await read(call!)).toMatchObject(receivedAnalysis(made));
  expect(await forms()).toHaveLength(2);
});

it('an analysis that an earlier release has stored is read', async () => {
  const [call] = calls.slice(3);
  await analyzed(call!, 'damson');
  const earlier = receivedAnalysis(answered('elder'));
  await service.db.query('UPDATE analysis SET body = $2 WHERE call_uuid = $1', [
    call!.uuid,
    deflateRawSync(JSON.stringify(earlier)),
  ]);
  expect(await read(call!)).toMatchObject(earlier);
});
