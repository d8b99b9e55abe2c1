import { randomUUID } from 'node:crypto';
import { AuditEntryAdded, type BodyOf, type Event, TranscriptReady } from '@call-analysis/events';
import { invalidFields, unavailable } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Stores } from '../deps.ts';
import { eraseCall } from '../erasure/erase-call.ts';
import type { Owner } from '../intake/upload-store.ts';
import { type CallFilter, NO_FILTER } from '../listing/call-filter.ts';
import { projectAnalyses, projectFailures } from '../results/project-results.ts';
import { csvOf } from '../test/csv.ts';
import { analysis, callAnalyzed, callFailed } from '../test/events.ts';
import { faultOf, untilSomebodyWaits } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { runJobs } from './run-jobs.ts';
import { retryFailedCalls, analyzeCalls, eraseCallsOfNumber, measureCalls } from './start-jobs.ts';

const service = new IngestUnderTest();
let ready: Event<BodyOf<typeof TranscriptReady>>[];
let audited: Event<BodyOf<typeof AuditEntryAdded>>[];
beforeAll(async () => {
  audited = await service.collect(AuditEntryAdded);
  ready = await service.collect(TranscriptReady);
});
const scorecard = randomUUID();
const scorecards = {
  async requireActive(_: unknown, uuid: string) {
    if (uuid !== scorecard)
      throw invalidFields([{ field: 'scorecard_uuid', code: 'INVALID', message: 'is not a scorecard of this firm' }]);
  },
};
const actorOf = (owner: Owner) => ({ ...owner, address: '192.0.2.7' });
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

async function expectAudited(owner: Owner, count: number): Promise<void> {
  const ofFirm = () => audited.filter(({ firmuuid }) => firmuuid === owner.firmUuid);
  await waitUntil(() => ofFirm().length >= count);
  expect(ofFirm()).toHaveLength(count);
  const { userUuid: actor, address } = actorOf(owner);
  for (const { data } of ofFirm()) expect(data).toMatchObject({ action: 'call.erased', actor, address });
}

/** A running job that analyzes 20 completed calls anew, and these calls in the order of the job. */
async function startAnalyzing(owner: Owner): Promise<{ uuid: string; calls: string[] }> {
  await addCalls(owner, 20, 0);
  await service.db.query(`UPDATE call SET status = 'completed', outcome = 'scored' WHERE firm_uuid = $1`, [
    owner.firmUuid,
  ]);
  const calls = (await service.callsOf(owner)).map(({ uuid }) => uuid).reverse();
  return { uuid: await analyzeCalls({ ...service.deps, scorecards }, actorOf(owner), { callUuids: calls }), calls };
}

/** Does `work` once the job has come to this call, which it cannot lock until then. */
async function whileAt(callUuid: string, run: () => Promise<void>, work: () => Promise<void>): Promise<void> {
  let running: Promise<void> | undefined;
  await service.db.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM call WHERE uuid = $1 FOR UPDATE', [callUuid]);
    running = run();
    await waitUntil(async () => {
      const waiting = await service.deps.db.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await work();
  });
  await running;
}

/** The analyses of these calls arrive, in the attempt that a job has begun. */
async function endAnalyses(owner: Owner, calls: readonly string[]): Promise<void> {
  const events = calls.map((uuid) => callAnalyzed({ owner, uuid }, { attempt: 2, analysis }));
  await projectAnalyses(service.deps, events);
}

/** Runs the jobs although the pause before the next look at their calls is not over. */
async function runAgain(uuid: string): Promise<void> {
  await service.db.query(`UPDATE job SET leased_until = now() - interval '1 second' WHERE uuid = $1`, [uuid]);
  await runJobs(service.deps, forever);
}

const reopened = async (owner: Owner) =>
  (
    await service.db.query<{ uuid: string }>('SELECT uuid FROM call WHERE firm_uuid = $1 AND attempt = 2', [
      owner.firmUuid,
    ])
  ).length;

describe('erasing the calls of a phone number', () => {
  it('erases up to 100 calls at once with a receipt for each, and no other call; a dry run only counts', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 3, 2);
    await addCalls(service.newOwner(), 1, 0);
    const erase = (isDryRun: boolean) => eraseCallsOfNumber(service.deps, actorOf(owner), '998901112233', isDryRun);
    expect(await erase(true)).toEqual({ calls: 3, receipts: [], jobUuid: null });
    expect(await numbersOf(owner)).toHaveLength(5);
    const { calls, receipts } = await erase(false);
    expect([calls, receipts.length]).toEqual([3, 3]);
    expect(await numbersOf(owner)).toHaveLength(2);
    expect(await numbersOf(owner)).not.toContain(NUMBER);
    expect(await erase(false)).toEqual({ calls: 0, receipts: [], jobUuid: null });
  });

  it('erases the others when one of them is erased meanwhile, each with an audit entry', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 5, 0);
    const [oldest] = await service.callsOf(owner);
    const { deps } = service;
    let isErased = false;
    const find: Stores['erasures']['find'] = async (...which) => {
      if (!isErased) await eraseCall(service.deps, owner.firmUuid, oldest!.uuid);
      isErased = true;
      return deps.erasures.find(...which);
    };
    const slow = { ...deps, erasures: { ...deps.erasures, find } };
    const { calls, receipts } = await eraseCallsOfNumber(slow, actorOf(owner), NUMBER, false);
    expect([calls, receipts.length]).toEqual([4, 4]);
    expect(await numbersOf(owner)).toEqual([]);
    await expectAudited(owner, 4);
  });

  it('erases more calls in a job, which keeps nothing of the number', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 130, 1);
    const { calls, jobUuid } = await eraseCallsOfNumber(service.deps, actorOf(owner), NUMBER, false);
    expect(calls).toBe(130);
    const { jobs } = service.deps;
    expect(await jobs.get(owner.firmUuid, jobUuid!)).toMatchObject({ status: 'running', total: 130, done: 0 });
    await runJobs(service.deps, forever);
    expect(await jobs.get(owner.firmUuid, jobUuid!)).toMatchObject({
      status: 'done',
      total: 130,
      done: 130,
      failed: 0,
      filter: NO_FILTER,
      finishedAt: expect.any(Date),
    });
    expect(await numbersOf(owner)).toHaveLength(1);
    await expectAudited(owner, 130);
    expect(await faultOf(jobs.get(service.newOwner().firmUuid, jobUuid!))).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a job', () => {
  it('that is canceled does no more', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 120, 0);
    const { jobUuid } = await eraseCallsOfNumber(service.deps, actorOf(owner), NUMBER, false);
    expect(await service.deps.jobs.cancel(owner.firmUuid, jobUuid!)).toMatchObject({ status: 'canceled' });
    await runJobs(service.deps, forever);
    expect(await numbersOf(owner)).toHaveLength(120);
  });

  it('that is canceled while it works does no more', async () => {
    const owner = service.newOwner();
    const { uuid, calls } = await startAnalyzing(owner);
    const { jobs } = service.deps;
    const cancel = async () => void (await jobs.cancel(owner.firmUuid, uuid));
    await whileAt(calls[7]!, () => runJobs(service.deps, forever), cancel);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'canceled', begun: 0, done: 0, failed: 0 });
    expect(await reopened(owner)).toBe(7);
    // Calls that it has begun end by themselves.
    await endAnalyses(owner, calls.slice(0, 7));
    await runAgain(uuid);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'canceled', done: 0, failed: 0 });
  });

  it('that dies between two calls goes on with the next one, and none counts as failed', async () => {
    const owner = service.newOwner();
    const { uuid, calls } = await startAnalyzing(owner);
    const { jobs, bus } = { ...service.deps, bus: service.deps.bus };
    let published = 0;
    const dying = new Proxy(bus, {
      get(target, name) {
        if (name !== 'publish') return Reflect.get(target, name) as unknown;
        return async (...events: Parameters<typeof bus.publish>) => {
          if ((published += 1) > 7) throw unavailable('The process');
          return target.publish(...events);
        };
      },
    });
    await expect(runJobs({ ...service.deps, bus: dying }, forever)).rejects.toThrow();
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', begun: 7, failed: 0 });
    await runAgain(uuid);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', begun: 20, failed: 0 });
    await endAnalyses(owner, calls);
    await runAgain(uuid);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'done', done: 20, failed: 0 });
    expect(await reopened(owner)).toBe(20);
  });

  it('that another process takes over does nothing twice', async () => {
    const owner = service.newOwner();
    const { uuid, calls } = await startAnalyzing(owner);
    const { jobs } = service.deps;
    let second: Promise<void> | undefined;
    await whileAt(
      calls[7]!,
      () => runJobs(service.deps, forever),
      async () => {
        await service.deps.db.query(`UPDATE job SET leased_until = now() - interval '1 second' WHERE uuid = $1`, [
          uuid,
        ]);
        second = runJobs(service.deps, forever);
        await waitUntil(async () => (await jobs.get(owner.firmUuid, uuid)).leases === 2);
      },
    );
    await second;
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', begun: 20, failed: 0 });
    expect(await reopened(owner)).toBe(20);
  });

  it('goes on behind a call that cannot be processed', async () => {
    const owner = service.newOwner();
    const { uuid, calls } = await startAnalyzing(owner);
    const { deps } = service;
    const startAttempt: Stores['calls']['startAttempt'] = async (tx, firmUuid, callUuid, ...rest) => {
      if (callUuid === calls[0]) throw new Error('damaged');
      return deps.calls.startAttempt(tx, firmUuid, callUuid, ...rest);
    };
    const damaged = { ...deps, calls: { ...deps.calls, startAttempt } };
    await expect(runJobs(damaged, forever)).rejects.toThrow('damaged');
    await runAgain(uuid);
    await endAnalyses(owner, calls.slice(1));
    await runAgain(uuid);
    const { jobs } = service.deps;
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'done', done: 19, failed: 1 });
  });

  it('continues with the next calls after a crash, and analyzes each matching call once', async () => {
    const owner = service.newOwner();
    await addCalls(owner, 120, 30);
    await service.db.query(
      `UPDATE call SET status = 'completed', outcome = 'scored', score = 50 WHERE firm_uuid = $1`,
      [owner.firmUuid],
    );
    const filter: CallFilter = { ...NO_FILTER, status: ['completed'], score_min: 50 };
    expect(await measureCalls(service.deps, owner.firmUuid, filter)).toMatchObject({ calls: 150 });
    expect((await measureCalls(service.deps, owner.firmUuid, filter)).textBytes).toBeGreaterThan(150);
    const uuid = await analyzeCalls({ ...service.deps, scorecards }, actorOf(owner), filter, scorecard);
    const { jobs } = service.deps;
    let groups = 0;
    await runJobs(service.deps, () => groups++ > 0);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', begun: 100 });
    // A process that died with the lease.
    await service.db.query(`UPDATE job SET leased_until = now() + interval '1 hour' WHERE uuid = $1`, [uuid]);
    await runJobs(service.deps, forever);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', begun: 100 });
    await runAgain(uuid);
    expect(await jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', total: 150, begun: 150, done: 0 });
    await endAnalyses(
      owner,
      (await service.callsOf(owner)).map((call) => call.uuid),
    );
    await runAgain(uuid);
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
    const { deps } = service;
    expect(await measureCalls(deps, owner.firmUuid, selection)).toMatchObject({ calls: 2 });
    const uuid = await analyzeCalls({ ...service.deps, scorecards }, actorOf(owner), selection);
    expect(await deps.jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'running', total: 2 });
    await runJobs(service.deps, forever);
    await endAnalyses(owner, [own[2]!, own[0]!]);
    await runAgain(uuid);
    expect(await deps.jobs.get(owner.firmUuid, uuid)).toMatchObject({ status: 'done', total: 2, done: 2, failed: 0 });
    const again = await service.db.query<{ uuid: string }>(
      'SELECT uuid FROM call WHERE attempt = 2 AND uuid = ANY($1)',
      [[...own, ...foreign]],
    );
    expect(again.map((row) => row.uuid).sort()).toEqual([own[0], own[2]].sort());
  });

  it('ends when the last of its calls has ended, and counts as failed those that have no new analysis', async () => {
    const owner = service.newOwner();
    const { uuid, calls } = await startAnalyzing(owner);
    const { jobs } = service.deps;
    const get = () => jobs.get(owner.firmUuid, uuid);
    // An earlier analysis, which stays the current one of a call whose new analysis fails.
    await service.db.query(
      `INSERT INTO analysis (uuid, call_uuid, firm_uuid, body, created_at)
       SELECT gen_random_uuid(), uuid, firm_uuid, ''::bytea, now() - interval '1 day' FROM call WHERE firm_uuid = $1`,
      [owner.firmUuid],
    );
    await runJobs(service.deps, forever);
    expect(await get()).toMatchObject({ status: 'running', total: 20, begun: 20, done: 0, failed: 0 });
    const [refused, silent, failed, erased, retried, ...analyzed] = calls as [string, string, string, string, string];
    const refuse = (call: string) =>
      projectFailures(service.deps, [callFailed({ owner, uuid: call }, { attempt: 2, stage: 'analysis' })]);
    await refuse(refused);
    expect(await service.deps.calls.get(owner.firmUuid, refused)).toMatchObject({ status: 'completed' });
    await projectAnalyses(service.deps, [
      callAnalyzed({ owner, uuid: silent }, { attempt: 2, outcome: 'no_speech', analysis: null }),
    ]);
    await service.db.query('DELETE FROM analysis WHERE call_uuid = $1', [failed]);
    await refuse(failed);
    await eraseCall(service.deps, owner.firmUuid, erased);
    // A later attempt has begun without a result of the one that the job wanted.
    await service.db.query('UPDATE call SET attempt = 3 WHERE uuid = $1', [retried]);
    await endAnalyses(owner, analyzed.slice(1));
    await runAgain(uuid);
    expect(await get()).toMatchObject({
      status: 'running',
      total: 20,
      begun: 1,
      done: 15,
      failed: 4,
      finishedAt: null,
    });
    await endAnalyses(owner, analyzed);
    await runAgain(uuid);
    expect(await get()).toMatchObject({ status: 'done', total: 20, begun: 0, done: 16, failed: 4 });
    expect((await get()).finishedAt).not.toBeNull();
    expect(await service.db.query('SELECT 1 FROM job_call WHERE job_uuid = $1', [uuid])).toEqual([]);
  });

  it('that is canceled while it begins a call leaves nothing of it', async () => {
    const owner = service.newOwner();
    const { uuid, calls } = await startAnalyzing(owner);
    const { jobs } = service.deps;
    const job = await jobs.get(owner.firmUuid, uuid);
    let canceling: Promise<unknown> | undefined;
    await service.db.transaction(async (tx) => {
      expect(await jobs.count(tx, job, { uuid: calls[0]!, became: 'begun' }, 60)).toBe(true);
      canceling = jobs.cancel(owner.firmUuid, uuid);
      await untilSomebodyWaits(service.deps.db);
    });
    expect(await canceling).toMatchObject({ status: 'canceled', begun: 0 });
    expect(await service.db.query('SELECT 1 FROM job_call WHERE job_uuid = $1', [uuid])).toEqual([]);
  });

  it('is not created with a scorecard that is not the firm’s', async () => {
    const wrong = analyzeCalls({ ...service.deps, scorecards }, actorOf(service.newOwner()), NO_FILTER, randomUUID());
    expect(await faultOf(wrong)).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});

describe('failed calls are retried by their code', () => {
  const failedOf = (owner: Owner) =>
    service.db.query<{ uuid: string }>('SELECT uuid FROM call WHERE firm_uuid = $1 ORDER BY uuid DESC', [
      owner.firmUuid,
    ]);
  const fail = (owner: Owner, uuids: readonly string[], code: string) =>
    service.db.query(`UPDATE call SET status = 'failed', failure = $3 WHERE firm_uuid = $1 AND uuid = ANY($2)`, [
      owner.firmUuid,
      uuids,
      JSON.stringify({ stage: 'transcription', code, message: 'No.', retryable: true, attempts: 1 }),
    ]);

  it('page by page, those with another code and those of other firms not', async () => {
    const [owner, other] = [service.newOwner(), service.newOwner()];
    for (const each of [owner, other]) await addCalls(each, 0, 7);
    const uuids = (await failedOf(owner)).map(({ uuid }) => uuid);
    const [mute, ...foreign] = uuids;
    await fail(owner, foreign, 'LANGUAGE_NOT_SUPPORTED');
    await fail(owner, [mute!], 'AUDIO_UNREADABLE');
    await fail(
      other,
      (await failedOf(other)).map(({ uuid }) => uuid),
      'LANGUAGE_NOT_SUPPORTED',
    );
    const pages: number[] = [];
    let after: string | null = null;
    do {
      const page = await retryFailedCalls(service.deps, owner.firmUuid, 'LANGUAGE_NOT_SUPPORTED', after, 3);
      pages.push(page.retried);
      after = page.next;
    } while (after !== null);
    expect(pages.reduce((sum, retried) => sum + retried, 0)).toBe(6);
    expect(Math.max(...pages)).toBeLessThanOrEqual(3);
    const again = () => ready.filter(({ firmuuid, data }) => firmuuid === owner.firmUuid && data.attempt === 2);
    await waitUntil(() => again().length === 6);
    expect(again().some(({ subject }) => subject === mute)).toBe(false);
    const rows = await service.db.query<{ firm: string; status: string; count: number }>(
      'SELECT firm_uuid AS firm, status, count(*)::int AS count FROM call WHERE firm_uuid = ANY($1) GROUP BY 1, 2',
      [[owner.firmUuid, other.firmUuid]],
    );
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(
      expect.arrayContaining([
        { firm: owner.firmUuid, status: 'failed', count: 1 },
        { firm: owner.firmUuid, status: 'queued', count: 6 },
        { firm: other.firmUuid, status: 'failed', count: 7 },
      ]),
    );
  });
});
