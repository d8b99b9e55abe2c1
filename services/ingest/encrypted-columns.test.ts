import { randomUUID } from 'node:crypto';
import { openDatabase } from '@call-analysis/postgres';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { analyzeCall, swapChannels } from './attempts/analyze-call.ts';
import { commentOnCall } from './comments/comment-on-call.ts';
import { openStores, type Stores } from './deps.ts';
import type { Dispute } from './desk/dispute-store.ts';
import { registerCall } from './intake/register-call.ts';
import { projectAnalyses, projectTranscripts } from './results/project-results.ts';
import { applyRetention } from './retention/apply-retention.ts';
import { reviewAnalysis } from './reviews/review-analysis.ts';
import { csvOf, goodAudio } from './test/csv.ts';
import { type Call, callAnalyzed, transcriptReady } from './test/events.ts';
import { recordingOf } from './test/fixtures.ts';
import { IngestUnderTest } from './test/ingest-under-test.ts';

const service = new IngestUnderTest();
const SEAL = Buffer.from([0xff, 0x01]);
const TEXT_SEAL = '\u0001sealed:';
const cipher = {
  encrypt: (plain: Buffer) => Buffer.concat([SEAL, plain]),
  decrypt: (stored: Buffer) => (stored.indexOf(SEAL) === 0 ? stored.subarray(SEAL.length) : stored),
  encryptText: (plain: string) => TEXT_SEAL + plain,
  decryptText: (stored: string) => (stored.startsWith(TEXT_SEAL) ? stored.slice(TEXT_SEAL.length) : stored),
};

/** Every column that SECURITY.md, "Encryption at rest", says is encrypted. */
const COLUMNS = [
  'call.tagged_text',
  'transcript.body',
  'analysis.body',
  'review.body',
  'review.comment',
  'comment.text',
  'dispute.reason',
  'dispute.comment',
] as const;

let stores: Stores;
let close: () => Promise<void>;
beforeAll(() => {
  const { databaseUrl: url } = service.config;
  const db = openDatabase({ url, schema: service.db.schema, cipher });
  stores = openStores(db, url);
  close = async () => {
    await stores.close();
    await db.close();
  };
});
afterAll(() => close());

/** The columns that have a value, none of which is readable. */
async function written(): Promise<string[]> {
  const columns: string[] = [];
  for (const name of COLUMNS) {
    const [table, column] = name.split('.');
    const rows = await service.db.query<{ value: Buffer | string }>(
      `SELECT ${column} AS value FROM ${table} WHERE ${column} IS NOT NULL`,
    );
    for (const { value } of rows) {
      const isSealed = typeof value === 'string' ? value.startsWith(TEXT_SEAL) : value.indexOf(SEAL) === 0;
      expect([name, isSealed]).toEqual([name, true]);
    }
    if (rows.length > 0) columns.push(name);
  }
  return columns;
}

it('whatever writes conversation text, what is stored is encrypted where the service encrypts', async () => {
  const deps = { ...service.deps, ...stores };
  const owner = service.newOwner();
  const actor = { ...owner, address: '192.0.2.7' };
  await service.process(owner, await service.put(owner, csvOf([{}])), {}, stores);
  expect(await written()).toEqual(['call.tagged_text']);

  const recorded = '018f0000-0000-7000-8000-000000000001';
  await registerCall(deps, owner, {
    callUuid: recorded,
    fileName: goodAudio.audio_file_name,
    metadata: JSON.stringify({ ...goodAudio, partner_call_id: 'recorded' }),
    found: { recording: recordingOf() },
    campaignUuid: null,
  });
  const audio: Call = { owner, uuid: recorded };
  await projectTranscripts(deps, [transcriptReady(audio)]);
  expect(await written()).toContain('transcript.body');

  const uploaded: Call = { owner, uuid: (await service.callsOf(owner)).find(({ uuid }) => uuid !== recorded)!.uuid };
  for (const call of [audio, uploaded]) {
    const event = callAnalyzed(call);
    await projectAnalyses(deps, [event]);
    await written();
    const scorecards = {
      addUp: async () => ({ score: 1, auto_failed: false, auto_fail_suspected: false, sections: [], questions: [] }),
    };
    for (const comment of ['first', 'second']) {
      await reviewAnalysis({ ...deps, scorecards }, actor, call.uuid, {
        isWhole: true,
        basedOn: null,
        analysisUuid: event.data.analysis_uuid,
        answers: [],
        comment,
        done: true,
      });
      await written();
    }
    await commentOnCall(deps, actor, call.uuid, { text: 'a comment' });
    const { disputes } = stores;
    const open = { status: 'open', comment: null, decided_by: null, decided_at: null } as const;
    const question = { uuid: randomUUID(), call_uuid: call.uuid, question_uuid: randomUUID() };
    const dispute: Dispute = { ...question, ...open, reason: 'a reason', by: owner.userUuid, at: new Date() };
    await stores.db.transaction(async (tx) => {
      await disputes.add(tx, owner.firmUuid, dispute);
      await disputes.decide(tx, owner.firmUuid, { ...dispute, status: 'rejected', comment: 'a decision' });
    });
  }
  expect(await written()).toEqual(COLUMNS);

  await swapChannels(deps, actor, audio.uuid);
  await written();
  await analyzeCall(deps, owner.firmUuid, uploaded.uuid);
  for (const call of [audio, uploaded]) await projectAnalyses(deps, [callAnalyzed(call, { attempt: 2 })]);
  expect(await written()).toEqual(COLUMNS);

  const firm = { uuid: owner.firmUuid, timeZone: 'UTC', audioDays: null, transcriptDays: 0, callsDays: null };
  const settings = { list: async () => [firm], find: async () => firm };
  for await (const _ of applyRetention(deps, settings, new Date(Date.now() + 48 * 3600 * 1000)));
  expect(await written()).toEqual(COLUMNS.filter((name) => !/^(?:call|transcript)\./.test(name)));
});
