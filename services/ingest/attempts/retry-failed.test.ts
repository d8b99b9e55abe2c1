import { randomUUID } from 'node:crypto';
import { type BodyOf, CallsAccepted, type Event, RetryRequested, TranscriptReady } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Owner } from '../intake/upload-store.ts';
import { csvOf, rowsOf } from '../test/csv.ts';
import { type Call, callAnalyzed, callFailed, eventOf, noSpeech } from '../test/events.ts';
import { callerOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';

// Each retry waits twice as long as the last one, so that the failure arrives in between.
const service = new IngestUnderTest({ serving: true, retries: 10 });
let accepted: Event<BodyOf<typeof CallsAccepted>>[];
let ready: Event<BodyOf<typeof TranscriptReady>>[];

beforeAll(async () => {
  accepted = await service.collect(CallsAccepted);
  ready = await service.collect(TranscriptReady);
});

async function upload(owner: Owner, rows: number): Promise<string> {
  const { metadata_key } = await service.client.openUpload({ ...callerOf(owner), metadata_filename: 'calls.csv' });
  await service.putAt(metadata_key, csvOf(rowsOf(rows)));
  return (await service.client.processUpload({ ...callerOf(owner), metadata_key, on_error: 'reject' })).batch_uuid;
}

async function newCall(): Promise<Call> {
  const owner = service.newOwner();
  const batch = await upload(owner, 1);
  const { items } = await service.client.listCalls({ ...callerOf(owner), batch, page: 1, size: 1 });
  const call = { owner, uuid: items[0]!.uuid };
  await announced(call, 1);
  return call;
}

const attemptsOf = ({ uuid }: Call) => ready.filter(({ subject }) => subject === uuid).map(({ data }) => data.attempt);
const announced = (call: Call, attempt: number) => waitUntil(() => attemptsOf(call).includes(attempt));
const read = async ({ owner, uuid }: Call) =>
  (await service.client.getCall({ ...callerOf(owner), call_uuid: uuid })).call!;
const reaches = (call: Call, status: string) => waitUntil(async () => (await read(call)).status === status);
const depth = async (consumer: string) => (await service.deps.bus.depths()).find((each) => each.consumer === consumer)!;
const settled = () =>
  waitUntil(async () => {
    const { waiting, active } = await depth('ingest.retries');
    return waiting + active === 0;
  });

const retryRequested = (call: Call, attempt: number | null) => eventOf(RetryRequested, call, { attempt });

describe('RetryRequested for a failed call', () => {
  it.each([true, false])(
    'starts the next attempt, even after a permanent failure (retryable: %s)',
    async (retryable) => {
      const call = await newCall();
      await service.publish(callFailed(call, { retryable }));
      await reaches(call, 'failed');
      await service.publish(retryRequested(call, 1));
      await announced(call, 2);
      expect(await read(call)).toMatchObject({ status: 'queued', failure: null });
    },
  );

  it('starts the next attempt when the failed attempt is unknown', async () => {
    const call = await newCall();
    await service.publish(callFailed(call));
    await reaches(call, 'failed');
    await service.publish(retryRequested(call, null));
    await announced(call, 2);
  });

  it('starts one attempt when it is delivered repeatedly', async () => {
    const call = await newCall();
    await service.publish(callFailed(call));
    await reaches(call, 'failed');
    await service.publish(retryRequested(call, 1), retryRequested(call, 1));
    await announced(call, 2);
    await service.publish(retryRequested(call, 1));
    await settled();
    expect(attemptsOf(call)).toEqual([1, 2]);
  });

  it('waits for the failure when it arrives first', async () => {
    const call = await newCall();
    await service.publish(retryRequested(call, 1));
    await waitUntil(async () => (await depth('ingest.retries')).waiting === 1);
    expect(attemptsOf(call)).toEqual([1]);
    await service.publish(callFailed(call));
    await announced(call, 2);
  });

  it('does nothing when the call was completed, retried or erased since', async () => {
    const [done, retried, unknown] = [
      await newCall(),
      await newCall(),
      { owner: service.newOwner(), uuid: randomUUID() },
    ];
    await service.publish(callAnalyzed(done, noSpeech), callFailed(retried));
    await Promise.all([reaches(done, 'completed'), reaches(retried, 'failed')]);
    await service.client.retryCall({ ...callerOf(retried.owner), call_uuid: retried.uuid });
    await announced(retried, 2);
    await service.publish(retryRequested(done, 1), retryRequested(retried, 1), retryRequested(unknown, 1));
    await settled();
    expect([attemptsOf(done), attemptsOf(retried), attemptsOf(unknown)]).toEqual([[1], [1, 2], []]);
    expect((await depth('ingest.retries')).dead).toBe(0);
  });
});

describe('RetryRequested for a range of calls', () => {
  it('retries the calls that could not be announced, and no other call of their batch', async () => {
    const owner = service.newOwner();
    const failure = { stage: 'analysis', code: 'NOT_ANNOUNCED', message: 'No.', retryable: true, attempts: 1 };
    const batch = await upload(owner, 503);
    const { subject, data } = await waitUntil(() => accepted.find((each) => each.subject === batch));
    const items = await service.db.query<{ uuid: string }>('SELECT uuid FROM call WHERE firm_uuid = $1 ORDER BY uuid', [
      owner.firmUuid,
    ]);
    const late = items.filter(({ uuid }) => uuid >= data.first && uuid <= data.last);
    const early = items.find(({ uuid }) => uuid < data.first)!;
    await service.db.query(`UPDATE call SET status = 'failed', failure = $3 WHERE firm_uuid = $1 AND uuid = ANY($2)`, [
      owner.firmUuid,
      [early.uuid, ...late.map(({ uuid }) => uuid)],
      JSON.stringify(failure),
    ]);
    await service.publish(eventOf(RetryRequested, { owner, uuid: subject }, data));
    for (const { uuid } of late) await announced({ owner, uuid }, 2);
    await settled();
    expect(late).toHaveLength(3);
    expect((await read({ owner, uuid: early.uuid })).status).toBe('failed');
  });
});
