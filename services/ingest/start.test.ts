import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import {
  type BodyOf,
  CallAnalyzed,
  CallFailed,
  CallsAccepted,
  type Event,
  type EventType,
  INLINE_BYTES,
  TranscriptReady,
} from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Owner } from './intake/upload-store.ts';
import { start } from './start.ts';
import { csvOf, type CsvRow, rowsOf } from './test/csv.ts';
import { analysis, type Call, callAnalyzed, callFailed, eventOf, failure, noSpeech } from './test/events.ts';
import { callerOf, faultOf } from './test/fixtures.ts';
import { IngestUnderTest } from './test/ingest-under-test.ts';

const service = new IngestUnderTest({ serving: true });

type Ready = Event<BodyOf<typeof TranscriptReady>>;

let accepted: Event<BodyOf<typeof CallsAccepted>>[];
let ready: Ready[];

beforeAll(async () => {
  accepted = await service.collect(CallsAccepted);
  ready = await service.collect(TranscriptReady);
});

/** Uploads a CSV over gRPC and processes it. */
async function upload(owner: Owner, rows: readonly CsvRow[], on_error = 'reject') {
  const { metadata_key } = await service.client.openUpload({ ...callerOf(owner), metadata_filename: 'calls.csv' });
  await service.putAt(metadata_key, csvOf(rows));
  return service.client.processUpload({ ...callerOf(owner), metadata_key, on_error });
}

/** One accepted call, announced. */
async function newCall(owner: Owner = service.newOwner(), row: CsvRow = {}) {
  const { batch_uuid } = await upload(owner, [row]);
  const { items } = await service.client.listCalls({ ...callerOf(owner), batch: batch_uuid, page: 1, size: 1 });
  const { uuid } = items[0]!;
  await announced(uuid);
  return { owner, uuid, batch: batch_uuid };
}

function announced(uuid: string, attempt = 1): Promise<Ready> {
  return waitUntil(() => ready.find(({ subject, data }) => subject === uuid && data.attempt === attempt));
}

function read({ owner, uuid }: Call) {
  return service.client.getCall({ ...callerOf(owner), call_uuid: uuid });
}

async function statusOf(call: Call): Promise<string> {
  return (await read(call)).call!.status;
}

function reaches(call: Call, status: string): Promise<boolean> {
  return waitUntil(async () => (await statusOf(call)) === status);
}

/** No event for this service is pending or in progress. */
function settled(): Promise<boolean> {
  return waitUntil(async () => {
    const depths = await service.deps.bus.depths();
    return depths.every(({ consumer, waiting, active }) => !consumer.startsWith('ingest.') || waiting + active === 0);
  });
}

it('any uuid that has the form may be asked for, of whatever version: there is no such thing', async () => {
  const caller = callerOf(service.newOwner());
  const { client } = service;
  for (const uuid of ['11111111-1111-1111-1111-111111111111', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFE']) {
    for (const asked of [
      client.getCall({ ...caller, call_uuid: uuid }),
      client.getBatch({ ...caller, batch_uuid: uuid }),
      client.getJob({ ...caller, path: [uuid], json: '{}' }),
      client.eraseCall({ ...caller, call_uuid: uuid }),
      client.getCampaign({ ...caller, campaign_uuid: uuid }),
    ])
      expect(await faultOf(asked)).toMatchObject({ code: 'NOT_FOUND' });
    for (const filter of [{ batch: uuid }, { lost_points: uuid }, { campaign: uuid }])
      expect(await client.listCalls({ ...caller, ...filter, page: 1, size: 1 })).toMatchObject({ count: 0, items: [] });
  }
});

describe('an accepted call', () => {
  it('is announced once, with everything that its analysis needs, and later calls of a batch have later priorities', async () => {
    const owner = service.newOwner();
    const anonymized_text = '<Operator>Hello<клиент>Hi <there><operator>Bye';
    const rows = Array.from({ length: 1_100 }, (_, index) => ({ duration: String(index), anonymized_text }));
    const batch = await upload(owner, rows);
    expect(batch).toMatchObject({ accepted: 1_100, duplicates: 0, rejected: 0, ignored_columns: [] });
    const own = () => ready.filter(({ firmuuid }) => firmuuid === owner.firmUuid);
    await waitUntil(() => own().length >= 1_100);
    await settled();
    const events = own().toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
    const calls = await service.callsOf(owner);
    expect(events.map(({ subject }) => subject)).toEqual(calls.map(({ uuid }) => uuid));
    expect(events.map(({ data }) => data)).toEqual(
      rows.map(({ duration }) => ({
        attempt: 1,
        source: 'transcription',
        duration: Number(duration),
        language: null,
        tags: ['operator', 'клиент'],
        segment_type: 'support',
        operator_name: 'Aziza',
        direction: null,
        start_time: '2026-01-02T03:04:05.000Z',
        transcript: {
          utterances: [
            { role: 'operator', text: 'Hello', start: null, end: null },
            { role: 'client', text: 'Hi <there>', start: null, end: null },
            { role: 'operator', text: 'Bye', start: null, end: null },
          ],
        },
      })),
    );
    expect([0, 500, 1_000].map((index) => events[index]?.priority)).toEqual([0, 1, 2]);
  });

  it('is not announced again when its CallsAccepted event is delivered again', async () => {
    const owner = service.newOwner();
    const { batch_uuid } = await upload(owner, rowsOf(501));
    const own = () => ready.filter(({ firmuuid }) => firmuuid === owner.firmUuid);
    await waitUntil(() => own().length >= 501);
    await service.publish(accepted.find(({ subject }) => subject === batch_uuid)!);
    await settled();
    const marker = await newCall(owner);
    await announced(marker.uuid);
    expect(own()).toHaveLength(502);
    expect(await statusOf(marker)).toBe('queued');
  });

  it('can be read whatever was accepted: 4 MiB in turns of one letter are sent in pieces', async () => {
    const owner = service.newOwner();
    const turns = Math.floor((4 * 1024 * 1024) / '<client>a'.length);
    const call = await newCall(owner, { anonymized_text: '<client>a'.repeat(turns) });
    const request = { caller: { ...callerOf(owner).caller, reads_json: true }, call_uuid: call.uuid };
    const { is_large, json } = await service.client.getCall(request);
    expect([is_large, json]).toEqual([true, undefined]);
    const pieces: Buffer[] = [];
    for await (const { data } of service.client.readLargeCall(request)) pieces.push(data);
    const { uuid, transcript } = JSON.parse(Buffer.concat(pieces).toString()) as {
      uuid: string;
      transcript: { utterances: unknown[] };
    };
    expect([uuid, transcript.utterances.length]).toEqual([call.uuid, turns]);
    expect(transcript.utterances.at(-1)).toMatchObject({ role: 'client', text: 'a', start: null, end: null });
  });

  it('is announced with an object key when its transcript is over 256 KiB', async () => {
    const owner = service.newOwner();
    const short = await newCall(owner, { anonymized_text: `<operator>${'a'.repeat(INLINE_BYTES - 200)}` });
    const long = await newCall(owner, { anonymized_text: `<operator>${'я'.repeat(INLINE_BYTES / 2)}<client>ok` });
    expect((await announced(short.uuid)).data.transcript).toHaveProperty('utterances');
    const { transcript } = (await announced(long.uuid)).data;
    if (!('key' in transcript)) throw new Error('The transcript is inline.');
    expect(transcript.key).toContain(owner.firmUuid);
    expect(await json(await service.deps.objects.open(transcript.key))).toEqual({
      utterances: [
        { role: 'operator', text: 'я'.repeat(INLINE_BYTES / 2), start: null, end: null },
        { role: 'client', text: 'ok', start: null, end: null },
      ],
    });
    expect(JSON.parse((await read(long)).transcript_json!)).toMatchObject({ utterances: [{}, { text: 'ok' }] });
  });

  it('is returned as it was uploaded, without fields that are unknown', async () => {
    const row = {
      partner_call_id: 'P-1',
      anonymized_text: '<mijoz>Salom',
      start_time: '2026-01-02 03:04+05',
      duration: '0',
    };
    const before = Date.now();
    const call = await newCall(service.newOwner(), row);
    const detail = await read(call);
    expect(detail.call).toMatchObject({
      uuid: call.uuid,
      source: 'transcription',
      status: 'queued',
      partner_call_id: 'P-1',
      client_phone_number: '+998901234567',
      operator_name: 'Aziza',
      segment_type: 'support',
      start_time: '2026-01-01T22:04:00.000Z',
      duration: 0,
      batch_uuid: call.batch,
      failure: null,
    });
    for (const name of ['outcome', 'language', 'score', 'direction', 'operator_id', 'campaign_uuid']) {
      expect(detail.call).not.toHaveProperty(name);
    }
    expect(Date.parse(detail.call!.created_at)).toBeGreaterThanOrEqual(before - 1_000);
    expect(JSON.parse(detail.transcript_json!)).toEqual({
      language: null,
      engine: null,
      utterances: [{ role: 'client', text: 'Salom', start: null, end: null }],
    });
    expect(detail).toMatchObject({ analyses_json: [], history: [{ status: 'queued', at: detail.call!.created_at }] });
  });
});

describe('an analysis', () => {
  it('completes its call', async () => {
    const call = await newCall();
    const event = callAnalyzed(call, { language: 'uz' });
    await service.publish(event);
    await reaches(call, 'completed');
    const detail = await read(call);
    expect(detail.call).toMatchObject({
      outcome: 'scored',
      score: 87.5,
      language: 'uz',
      failure: null,
      updated_at: event.time,
    });
    const { sentiment_unknown: _, ...published } = analysis;
    expect(detail.analyses_json?.map((each) => JSON.parse(each))).toEqual([
      { ...published, uuid: expect.any(String), score_source: 'machine', review: null },
    ]);
    expect(detail.history?.map(({ status }) => status)).toEqual(['queued', 'completed']);
    expect(detail.history?.at(-1)?.at).toBe(event.time);
  });

  it('is stored once when it is delivered again, alone or with others', async () => {
    const [call, other] = [await newCall(), await newCall()];
    const event = callAnalyzed(call);
    await service.publish(event);
    await reaches(call, 'completed');
    const before = await read(call);
    const later = new Date(Date.now() + 1_000).toISOString();
    await service.publish(
      event,
      callAnalyzed(other),
      { ...callAnalyzed(call, { language: 'ru' }), time: later },
      event,
    );
    await reaches(other, 'completed');
    await settled();
    expect(await read(call)).toEqual(before);
  });

  it('of a conversation without speech completes its call without a score', async () => {
    const call = await newCall();
    await service.publish(callAnalyzed(call, noSpeech));
    await reaches(call, 'completed');
    const detail = await read(call);
    expect(detail.call).toMatchObject({ outcome: 'no_speech' });
    expect(detail.call).not.toHaveProperty('score');
    expect(detail.analyses_json).toEqual([]);
  });

  it('of another firm, of an unknown call, or of a future attempt changes nothing', async () => {
    const call = await newCall();
    const otherFirm = { owner: service.newOwner(), uuid: call.uuid };
    await service.publish(
      callAnalyzed(otherFirm),
      callAnalyzed({ ...call, uuid: randomUUID() }),
      callAnalyzed(call, { attempt: 2 }),
      callFailed(otherFirm),
      callFailed(call, { attempt: 2 }),
    );
    await settled();
    expect((await read(call)).history).toHaveLength(1);
  });

  it('that is invalid fails the call, which can be retried', async () => {
    const call = await newCall();
    await service.publish(eventOf(CallAnalyzed as EventType, call, { attempt: 1, analysis: 'good' }));
    await reaches(call, 'failed');
    expect((await read(call)).call!.failure).toMatchObject({
      stage: 'analysis',
      code: 'RESULT_NOT_STORED',
      retryable: true,
      attempts: 1,
    });
    await service.client.retryCall({ ...callerOf(call.owner), call_uuid: call.uuid });
    await announced(call.uuid, 2);
  });
});

describe('a failure', () => {
  it('fails its call, with stage, code, message and number of attempts', async () => {
    const call = await newCall();
    await service.publish(callFailed(call));
    await reaches(call, 'failed');
    const detail = await read(call);
    expect(detail.call!.failure).toEqual(failure);
    expect(detail.history?.at(-1)).toMatchObject({ status: 'failed', detail: 'analysis: TOO_HARD' });
  });

  it('that is invalid also fails the call', async () => {
    const call = await newCall();
    await service.publish(eventOf(CallFailed as EventType, call, { attempt: 1, stage: 'nowhere' }));
    await reaches(call, 'failed');
    expect((await read(call)).call!.failure).toMatchObject({ code: 'RESULT_NOT_STORED', retryable: true });
  });

  it('changes no completed call, and a later success of the same attempt does not undo it', async () => {
    const [done, lost] = [await newCall(), await newCall()];
    await service.publish(callAnalyzed(done), callFailed(lost));
    await Promise.all([reaches(done, 'completed'), reaches(lost, 'failed')]);
    await service.publish(callFailed(done), callAnalyzed(lost));
    await settled();
    expect([await statusOf(done), await statusOf(lost)]).toEqual(['completed', 'failed']);
    expect((await read(lost)).analyses_json).toEqual([]);
  });
});

describe('a retry', () => {
  const retry = ({ owner, uuid }: { owner: Owner; uuid: string }) =>
    service.client.retryCall({ ...callerOf(owner), call_uuid: uuid });

  it('announces the call as its next attempt, with the first priority, and late results of earlier attempts are ignored', async () => {
    const call = await newCall();
    const first = await announced(call.uuid);
    await service.publish(callFailed(call));
    await reaches(call, 'failed');
    expect(await retry(call)).toMatchObject({ uuid: call.uuid, status: 'queued', failure: null });
    const second = await announced(call.uuid, 2);
    expect(second).toMatchObject({ firmuuid: call.owner.firmUuid, priority: 0, data: { ...first.data, attempt: 2 } });
    await service.publish(callFailed(call), callAnalyzed(call));
    await settled();
    expect(await statusOf(call)).toBe('queued');
    await service.publish(callAnalyzed(call, { attempt: 2 }));
    await reaches(call, 'completed');
    const { history, analyses_json } = await read(call);
    expect(history?.map(({ status, detail }) => [status, detail])).toEqual([
      ['queued', undefined],
      ['failed', 'analysis: TOO_HARD'],
      ['queued', 'retried'],
      ['completed', undefined],
    ]);
    expect(analyses_json).toHaveLength(1);
  });

  it('is refused for a call that has not failed, or failed permanently', async () => {
    const [queued, done, hopeless] = [await newCall(), await newCall(), await newCall()];
    await service.publish(callAnalyzed(done), callFailed(hopeless, { retryable: false }));
    await Promise.all([reaches(done, 'completed'), reaches(hopeless, 'failed')]);
    for (const call of [queued, done, hopeless]) {
      const before = await read(call);
      expect(await faultOf(retry(call))).toMatchObject({ kind: 'conflict', code: 'NOT_RETRYABLE' });
      expect(await read(call)).toEqual(before);
    }
  });

  it('is done once for two concurrent requests', async () => {
    const call = await newCall();
    await service.publish(callFailed(call));
    await reaches(call, 'failed');
    const answers = await Promise.allSettled([retry(call), retry(call)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await announced(call.uuid, 2);
    await settled();
    expect(ready.filter(({ subject }) => subject === call.uuid)).toHaveLength(2);
  });
});

describe('a range of calls that cannot be announced', () => {
  it('fails completely when the retries are exhausted, and each call can be retried', async () => {
    const owner = service.newOwner();
    const dead = async () =>
      (await service.deps.bus.depths()).find(({ consumer }) => consumer === 'ingest.announce')!.dead;
    const deadBefore = await dead();
    await service.db.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no room'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON claimed_event FOR EACH ROW WHEN (NEW.consumer = 'ingest.announce')
         EXECUTE FUNCTION refuse()`,
    );
    try {
      const { batch_uuid } = await upload(owner, rowsOf(503));
      const batch = () => service.client.getBatch({ ...callerOf(owner), batch_uuid });
      await waitUntil(async () => (await batch()).by_status['failed'] === 3);
      expect((await batch()).by_status).toEqual({ failed: 3, queued: 500 });
      expect(await dead()).toBe(deadBefore + 1);
    } finally {
      await service.db.query('DROP TRIGGER refuse ON claimed_event; DROP FUNCTION refuse');
    }
    const { items } = await service.client.listCalls({ ...callerOf(owner), status: ['failed'], page: 1, size: 10 });
    expect(items).toHaveLength(3);
    for (const { uuid, failure: reason } of items) {
      expect(reason).toMatchObject({ stage: 'analysis', code: 'NOT_ANNOUNCED', retryable: true, attempts: 2 });
      expect(await service.client.retryCall({ ...callerOf(owner), call_uuid: uuid })).toMatchObject({
        status: 'queued',
      });
      await announced(uuid, 2);
    }
  });
});

describe('reading', () => {
  it('lists calls newest first, in pages, by status, batch and partner_call_id', async () => {
    const owner = service.newOwner();
    const list = (filter: object, page = 1, size = 10) =>
      service.client.listCalls({ ...callerOf(owner), ...filter, page, size });
    const one = await upload(
      owner,
      Array.from({ length: 5 }, (_, index) => ({ partner_call_id: `a${index}` })),
    );
    const other = await upload(
      owner,
      Array.from({ length: 4 }, (_, index) => ({ partner_call_id: `b${index}` })),
    );
    const order = ['b3', 'b2', 'b1', 'b0', 'a4', 'a3', 'a2', 'a1', 'a0'];
    const ids = async (listed: ReturnType<typeof list>) => (await listed).items.map((call) => call.partner_call_id);
    expect(await ids(list({}))).toEqual(order);
    expect([
      await ids(list({}, 1, 4)),
      await ids(list({}, 2, 4)),
      await ids(list({}, 3, 4)),
      await ids(list({}, 4, 4)),
    ]).toEqual([order.slice(0, 4), order.slice(4, 8), order.slice(8), []]);
    expect(await list({}, 4, 4)).toMatchObject({ count: 9, items: [] });
    expect(await ids(list({ batch: one.batch_uuid }))).toEqual(order.slice(4));
    expect(await list({ batch: randomUUID() })).toMatchObject({ count: 0, items: [] });
    expect(await ids(list({ partner_call_id: 'b1' }))).toEqual(['b1']);
    expect(await list({ partner_call_id: 'b1', batch: one.batch_uuid })).toMatchObject({ count: 0 });
    const [, second] = await service.callsOf(owner);
    await announced(second!.uuid);
    await service.publish(callAnalyzed({ owner, uuid: second!.uuid }));
    await reaches({ owner, uuid: second!.uuid }, 'completed');
    expect(await ids(list({ status: ['completed'] }))).toEqual(['a1']);
    expect(await list({ status: ['completed', 'queued'], batch: other.batch_uuid })).toMatchObject({ count: 4 });
    expect(await list({ status: ['completed', 'queued'] })).toMatchObject({ count: 9 });
  });

  it('shows the progress of a batch, and when the last of its calls ended', async () => {
    const owner = service.newOwner();
    const { batch_uuid } = await upload(
      owner,
      [{ partner_call_id: 'a' }, {}, {}, { operator_name: '' }, { partner_call_id: 'a' }],
      'skip',
    );
    const batch = () => service.client.getBatch({ ...callerOf(owner), batch_uuid });
    const started = await batch();
    expect(started).toMatchObject({
      batch_uuid,
      kind: 'transcription',
      accepted: 3,
      duplicates: 0,
      rejected: 2,
      by_status: { queued: 3 },
    });
    expect(started).not.toHaveProperty('finished_at');
    expect(started.rejected_uuid).toBeTruthy();
    const [first, second, third] = await service.callsOf(owner);
    await service.publish(callAnalyzed({ owner, uuid: first!.uuid }), callFailed({ owner, uuid: second!.uuid }));
    await waitUntil(async () => (await batch()).by_status['failed'] === 1);
    expect(await batch()).not.toHaveProperty('finished_at');
    const last = callAnalyzed({ owner, uuid: third!.uuid });
    await service.publish(last);
    await waitUntil(async () => (await batch()).finished_at);
    expect(await batch()).toMatchObject({ by_status: { completed: 2, failed: 1 }, finished_at: last.time });
  });

  it('lists batches newest first, in pages', async () => {
    const owner = service.newOwner();
    const batches: string[] = [];
    for (const count of [1, 2, 3]) batches.unshift((await upload(owner, rowsOf(count))).batch_uuid);
    const list = (page: number, size: number) => service.client.listBatches({ ...callerOf(owner), page, size });
    const first = await list(1, 2);
    expect(first.count).toBe(3);
    expect(first.items.map(({ batch_uuid, by_status }) => [batch_uuid, by_status])).toEqual([
      [batches[0], { queued: 3 }],
      [batches[1], { queued: 2 }],
    ]);
    expect((await list(2, 2)).items).toMatchObject([{ batch_uuid: batches[2], accepted: 1 }]);
    expect(await list(3, 2)).toMatchObject({ count: 3, items: [] });
  });

  it('finds nothing of another firm', async () => {
    const { owner, uuid, batch } = await newCall();
    await service.publish(callFailed({ owner, uuid }));
    await reaches({ owner, uuid }, 'failed');
    const { rejected_uuid } = await upload(owner, [{ operator_name: '' }], 'skip').then(({ batch_uuid }) =>
      service.client.getBatch({ ...callerOf(owner), batch_uuid }),
    );
    const otherFirm = callerOf(service.newOwner());
    const { client } = service;
    for (const request of [
      client.getCall({ ...otherFirm, call_uuid: uuid }),
      client.retryCall({ ...otherFirm, call_uuid: uuid }),
      client.getBatch({ ...otherFirm, batch_uuid: batch }),
      download(otherFirm, rejected_uuid!),
      client.getCall({ ...callerOf(owner), call_uuid: randomUUID() }),
      client.getBatch({ ...callerOf(owner), batch_uuid: randomUUID() }),
      download(callerOf(owner), randomUUID()),
    ]) {
      expect(await faultOf(request)).toMatchObject({ kind: 'not-found', code: 'NOT_FOUND' });
    }
    const page = { page: 1, size: 10 };
    for (const filter of [{}, { batch }, { status: ['failed'] }]) {
      expect(await client.listCalls({ ...otherFirm, ...filter, ...page })).toMatchObject({ count: 0, items: [] });
    }
    expect(await client.listBatches({ ...otherFirm, ...page })).toMatchObject({ count: 0, items: [] });
    expect(await statusOf({ owner, uuid })).toBe('failed');
  });
});

async function download(caller: ReturnType<typeof callerOf>, rejected_uuid: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const { data } of service.client.downloadRejected({ ...caller, rejected_uuid }))
    chunks.push(Buffer.from(data));
  return Buffer.concat(chunks).toString();
}

describe('a rejected CSV', () => {
  it('can be downloaded unchanged by any user of the firm for seven days', async () => {
    const owner = service.newOwner();
    const rows = rowsOf(5_000, { operator_name: '', anonymized_text: `<operator>${'я'.repeat(100)}` });
    const rejected = await faultOf(upload(owner, rows));
    expect(rejected).toMatchObject({
      kind: 'invalid',
      code: 'VALIDATION_FAILED',
      details: { rows: 5_000, invalid: 5_000 },
    });
    const uuid = String(rejected.details?.['rejected_uuid']);
    const colleague = callerOf({ ...owner, userUuid: randomUUID() });
    const csv = await download(colleague, uuid);
    expect(csv.split('\r\n')).toHaveLength(5_002);
    expect(csv).toMatch(/,reject_reason\r\n.*REQUIRED/);
    await service.db.query("UPDATE rejected_file SET expires_at = expires_at - interval '7 days' WHERE uuid = $1", [
      uuid,
    ]);
    expect(await faultOf(download(colleague, uuid))).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('an upload session', () => {
  it('has a key with country, firm and user that no other open session has', async () => {
    const owner = service.newOwner({ country: 'KG' });
    const request = { ...callerOf(owner), metadata_filename: 'Звонки 1.CSV' };
    const opened = await Promise.all([1, 2, 3].map(() => service.client.openUpload(request)));
    const keys = opened.map(({ metadata_key }) => metadata_key);
    const prefix = `KG/${owner.firmUuid}/${owner.userUuid}/`;
    expect(keys).toContain(`${prefix}Звонки 1.CSV`);
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(new RegExp(`^${prefix}Звонки 1(-[0-9a-f]{6})?\\.CSV$`));
    expect(opened[0]).toMatchObject({ expires_in: 3600 });
    for (const { metadata_upload_url, metadata_key } of opened)
      expect(decodeURIComponent(metadata_upload_url)).toContain(metadata_key);
  });

  it('is refused for a firm that key-management does not know', async () => {
    const unknown = { ...callerOf({ firmUuid: randomUUID(), userUuid: randomUUID() }), metadata_filename: 'a.csv' };
    expect(await faultOf(service.client.openUpload(unknown))).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('starting', () => {
  it('on an address in use fails with one sentence', async () => {
    const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
    await expect(start({ ...service.config, listen: service.address }, { log })).rejects.toThrow(/in use/);
  });
});
