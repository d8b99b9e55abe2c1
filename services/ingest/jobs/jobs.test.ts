import { randomUUID } from 'node:crypto';
import { type BodyOf, type Event, TranscriptReady } from '@call-analysis/events';
import { invalidFields } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { NO_FILTER } from '../store/index.ts';
import { csvOf } from '../test/csv.ts';
import { faultOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import type { Owner } from '../uploads/upload-store.ts';
import { runJobs } from './run-jobs.ts';
import { analyzeCalls, eraseCallsOfNumber, measureCalls } from './start-jobs.ts';

const service = new IngestUnderTest();
let ready: Event<BodyOf<typeof TranscriptReady>>[];
beforeAll(async () => {
  ready = await service.collect(TranscriptReady);
});
const scorecard = randomUUID();
const parts = {
  get store() {
    return service.parts.store;
  },
  scorecards: {
    async requireActive(_: unknown, uuid: string) {
      if (uuid !== scorecard)
        throw invalidFields([{ field: 'scorecard_uuid', code: 'INVALID', message: 'is not a scorecard of this firm' }]);
    },
  },
};
const NUMBER = '+998901112233';

/** Adds calls, some of them with the number. */
async function addCalls(owner: Owner, withNumber: number, others: number): Promise<void> {
  const rows = Array.from({ length: withNumber + others }, (_, index) => ({
    partner_call_id: `call-${index}`,
    ...(index < withNumber && { client_phone_number: NUMBER }),
  }));
  await service.upload(owner, csvOf(rows));
}

const numbersOf = async (owner: Owner) =>
  (
    await service.db.query<{ number: string }>('SELECT client_phone_number AS number FROM call WHERE firm_uuid = $1', [
      owner.firmUuid,
    ])
  ).map(({ number }) => number);

const forever = () => false;

describe('erasing the calls of a phone number', () => {
  it('erases up to 100 calls at once with a receipt for each, and no other call; a dry run only counts', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 3, 2);
    await addCalls(service.newOwner(), 1, 0);
    const erase = (isDryRun: boolean) => eraseCallsOfNumber(service.parts, owner.firmUuid, '998901112233', isDryRun);
    expect(await erase(true)).toEqual({ calls: 3, receipts: [], jobUuid: null });
    expect(await numbersOf(owner)).toHaveLength(5);
    const { calls, receipts } = await erase(false);
    expect([calls, receipts.length]).toEqual([3, 3]);
    expect(await numbersOf(owner)).toHaveLength(2);
    expect(await numbersOf(owner)).not.toContain(NUMBER);
    expect(await erase(false)).toEqual({ calls: 0, receipts: [], jobUuid: null });
  });

  it('erases more calls in a job, which keeps nothing of the number', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 130, 1);
    const { calls, jobUuid } = await eraseCallsOfNumber(service.parts, owner.firmUuid, NUMBER, false);
    expect(calls).toBe(130);
    const { jobs } = service.parts.store;
    expect(await jobs.get(owner.firmUuid, jobUuid!)).toMatchObject({ status: 'running', total: 130, done: 0 });
    await runJobs(service.parts, forever);
    expect(await jobs.get(owner.firmUuid, jobUuid!)).toMatchObject({
      status: 'done',
      total: 130,
      done: 130,
      failed: 0,
      filter: { startedFrom: null, startedTo: null },
      finishedAt: expect.any(Date),
    });
    expect(await numbersOf(owner)).toHaveLength(1);
    expect(await faultOf(jobs.get(service.newOwner().firmUuid, jobUuid!))).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a job', () => {
  it('that is canceled does no more', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 120, 0);
    const { jobUuid } = await eraseCallsOfNumber(service.parts, owner.firmUuid, NUMBER, false);
    expect(await service.parts.store.jobs.cancel(owner.firmUuid, jobUuid!)).toMatchObject({ status: 'canceled' });
    await runJobs(service.parts, forever);
    expect(await numbersOf(owner)).toHaveLength(120);
  });

  it('continues with the next calls after a crash, and analyzes each matching call once', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 120, 30);
    await service.db.query(
      `UPDATE call SET status = 'completed', outcome = 'scored', score = 50 WHERE firm_uuid = $1`,
      [owner.firmUuid],
    );
    const filter = { ...NO_FILTER, status: ['completed'], scoreMin: 50 };
    expect(await measureCalls(service.parts.store, owner.firmUuid, filter)).toMatchObject({ calls: 150 });
    expect((await measureCalls(service.parts.store, owner.firmUuid, filter)).textBytes).toBeGreaterThan(150);
    const uuid = await analyzeCalls(parts, owner, filter, scorecard);
    const { jobs } = service.parts.store;
    let groups = 0;
    await runJobs(service.parts, () => groups++ > 0);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', done: 100 });
    // A process that died with the lease.
    await service.db.query(`UPDATE job SET leased_until = now() + interval '1 hour' WHERE uuid = $1`, [uuid]);
    await runJobs(service.parts, forever);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', done: 100 });
    await service.db.query(`UPDATE job SET leased_until = now() - interval '1 second' WHERE uuid = $1`, [uuid]);
    await runJobs(service.parts, forever);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'done', total: 150, done: 150, failed: 0 });
    const attempts = await service.db.query<{ attempt: number }>('SELECT attempt FROM call WHERE firm_uuid = $1', [
      owner.firmUuid,
    ]);
    expect(new Set(attempts.map(({ attempt }) => attempt))).toEqual(new Set([2]));
    const ofFirm = () => ready.filter(({ firmuuid, data }) => firmuuid === owner.firmUuid && data.attempt === 2);
    await waitUntil(() => ofFirm().length === 150);
    expect(new Set(ofFirm().map(({ data }) => data.scorecard_uuid))).toEqual(new Set([scorecard]));
  });

  it('analyzes the calls that are named and no other, and is measured by them', async () => {
    const owner = service.newOwner();
    const other = service.newOwner();
    await addCalls(owner, 4, 0);
    await addCalls(other, 1, 0);
    const done = `UPDATE call SET status = 'completed', outcome = 'scored' WHERE firm_uuid = $1 RETURNING uuid`;
    const own = (await service.db.query<{ uuid: string }>(done, [owner.firmUuid])).map(({ uuid }) => uuid);
    const foreign = (await service.db.query<{ uuid: string }>(done, [other.firmUuid])).map(({ uuid }) => uuid);
    const selection = { callUuids: [own[2]!, own[0]!, foreign[0]!, randomUUID()] };
    const { store } = service.parts;
    expect(await measureCalls(store, owner.firmUuid, selection)).toMatchObject({ calls: 2 });
    const uuid = await analyzeCalls(parts, owner, selection);
    expect(await store.jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', total: 2 });
    await runJobs(service.parts, forever);
    expect(await store.jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'done', total: 2, done: 2, failed: 0 });
    const again = await service.db.query<{ uuid: string }>(
      'SELECT uuid FROM call WHERE attempt = 2 AND uuid = ANY($1)',
      [[...own, ...foreign]],
    );
    expect(again.map((row) => row.uuid).sort()).toEqual([own[0], own[2]].sort());
  });

  it('is not created with a scorecard that is not the firm’s', async () => {
    const wrong = analyzeCalls(parts, service.newOwner(), NO_FILTER, randomUUID());
    expect(await faultOf(wrong)).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});
