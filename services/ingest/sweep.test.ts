import { randomUUID } from 'node:crypto';
import { pruneProcessed } from '@call-analysis/call-processing';
import { expect, it } from '@jest/globals';
import { erasures } from './erasure/erasure-store.ts';
import type { Owner } from './intake/upload-store.ts';
import { sweep } from './sweep.ts';
import { audioCsvOf, csvOf } from './test/csv.ts';
import { faultOf, fileNames, objectsBut, zipOf } from './test/fixtures.ts';
import { IngestUnderTest } from './test/ingest-under-test.ts';

const service = new IngestUnderTest();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Sweeps as at this time after `since`. */
function sweepAfter(ms: number, since = Date.now()): Promise<void> {
  return sweep({ ...service.deps, claimDays: 30 }, new Date(since + ms));
}

async function exists(key: string): Promise<boolean> {
  return (await service.deps.objects.head(key)) !== null;
}

it('an upload is kept until its session expires, processed or not', async () => {
  const began = Date.now();
  const owner = service.newOwner();
  const [left, done] = [
    await service.put(owner, csvOf([{}]), 'left.csv'),
    await service.put(owner, csvOf([{}]), 'done.csv'),
  ];
  const batch = await service.process(owner, done);
  await sweepAfter(59 * MINUTE, began);
  expect([await exists(left), await exists(done)]).toEqual([true, true]);
  await sweepAfter(HOUR + MINUTE);
  expect([await exists(left), await exists(done)]).toEqual([false, false]);
  expect(await service.process(owner, done)).toEqual(batch);
});

it('bytes that a slow PUT writes after the session expired are removed a day later', async () => {
  const began = Date.now();
  const key = await service.put(service.newOwner(), csvOf([{}]));
  await sweepAfter(HOUR + MINUTE);
  await service.putAt(key, 'bytes of a put that began within the hour');
  await sweepAfter(DAY + HOUR - MINUTE, began);
  expect(await exists(key)).toBe(true);
  await sweepAfter(DAY + HOUR + MINUTE);
  expect(await exists(key)).toBe(false);
});

it('bytes at a key that a later session uses are kept until that session expires', async () => {
  const owner = service.newOwner();
  const key = await service.put(owner, csvOf([{}]));
  await service.expire(key);
  expect(await service.put(owner, csvOf([{}, {}]))).toBe(key);
  await sweepAfter(0);
  expect(await service.process(owner, key)).toMatchObject({ accepted: 2 });
  await sweepAfter(HOUR + MINUTE);
  expect(await exists(key)).toBe(false);
});

it('the recordings of an expired session are removed with its CSV', async () => {
  const { firmUuid, userUuid } = service.newOwner();
  const files = {
    prefix: `UZ/${firmUuid}/${userUuid}/`,
    metadata: 'a.csv',
    audios: 'a.zip',
    campaignUuid: null,
  };
  const session = await service.deps.uploads.open({ firmUuid, userUuid }, files, HOUR / 1000);
  const keys = [session.metadataKey, session.audioKey!];
  for (const key of keys) await service.putAt(key, 'bytes');
  await sweepAfter(HOUR + MINUTE);
  expect([await exists(keys[0]!), await exists(keys[1]!)]).toEqual([false, false]);
});

it('all expired sessions are swept in one run, each once', async () => {
  const { firmUuid, userUuid } = service.newOwner();
  await service.db.query(
    `INSERT INTO upload_session (uuid, firm_uuid, user_uuid, metadata_key, created_at, expires_at)
     SELECT gen_random_uuid(), $1, $2, format('UZ/%s/%s/%s.csv', $1::uuid, $2::uuid, n), now(), now() - interval '1 minute'
     FROM generate_series(1, 1001) AS n`,
    [firmUuid, userUuid],
  );
  const swept = () =>
    service.db.query(
      'SELECT uuid, swept_at FROM upload_session WHERE firm_uuid = $1 AND swept_at IS NOT NULL ORDER BY uuid',
      [firmUuid],
    );
  await sweepAfter(0);
  const first = await swept();
  expect(first).toHaveLength(1001);
  await sweepAfter(MINUTE);
  expect(await swept()).toEqual(first);
});

it('a rejected CSV is kept for seven days, whether the other rows were accepted or not', async () => {
  const began = Date.now();
  const owner = service.newOwner();
  const csv = csvOf([{}, { operator_name: '' }]);
  const rejected = await faultOf(service.upload(owner, csv));
  const { rejectedUuid } = await service.upload(owner, csv, 'skip');
  const uuids = [String(rejected.details?.['rejected_uuid']), rejectedUuid!];
  const { keyOf: rejectedKey } = service.deps.rejectedFiles;
  await sweepAfter(7 * DAY - MINUTE, began);
  for (const uuid of uuids) expect(await exists(await rejectedKey(owner.firmUuid, uuid, new Date()))).toBe(true);
  expect(await service.objectsOf(owner)).toHaveLength(2);
  await sweepAfter(7 * DAY + MINUTE);
  expect(await service.objectsOf(owner)).toEqual([]);
  for (const uuid of uuids) {
    expect(await faultOf(rejectedKey(owner.firmUuid, uuid, new Date()))).toMatchObject({ code: 'NOT_FOUND' });
  }
});

it('objects without a row are removed after six hours', async () => {
  const began = Date.now();
  const { firmUuid } = service.newOwner();
  const orphans = [`frozen/${firmUuid}/${randomUUID()}.csv`, `rejected/${firmUuid}/${randomUUID()}.csv`];
  for (const key of orphans) await service.putAt(key, 'bytes');
  await sweepAfter(6 * HOUR - MINUTE, began);
  expect([await exists(orphans[0]!), await exists(orphans[1]!)]).toEqual([true, true]);
  await sweepAfter(6 * HOUR + MINUTE);
  expect([await exists(orphans[0]!), await exists(orphans[1]!)]).toEqual([false, false]);
});

it('a packed transcript is removed once its call has ended, not before', async () => {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{}, {}]));
  const [ended, waiting] = await service.callsOf(owner);
  await service.db.query(`UPDATE call SET status = 'completed' WHERE uuid = $1`, [ended!.uuid]);
  const keyOf = (uuid: string) => `transcripts/${owner.firmUuid}/${uuid}/1.json`;
  for (const { uuid } of [ended!, waiting!]) await service.putAt(keyOf(uuid), '{"utterances":[]}');
  await sweepAfter(6 * HOUR + MINUTE);
  expect([await exists(keyOf(ended!.uuid)), await exists(keyOf(waiting!.uuid))]).toEqual([false, true]);
});

it('a packed transcript is kept while the analysis of a recording is stored and its transcript is not', async () => {
  const owner = service.newOwner();
  const [call] = await batchOf(owner, 1);
  await service.db.query(`UPDATE call SET status = 'completed' WHERE uuid = $1`, [call]);
  const key = `transcripts/${owner.firmUuid}/${call}/1.json`;
  await service.putAt(key, '{"utterances":[]}');
  await sweepAfter(6 * HOUR + MINUTE);
  expect(await exists(key)).toBe(true);
  await service.db.query(`INSERT INTO transcript (firm_uuid, call_uuid, body) VALUES ($1, $2, '')`, [
    owner.firmUuid,
    call,
  ]);
  await sweepAfter(6 * HOUR + MINUTE);
  expect(await exists(key)).toBe(false);
});

it('a packed transcript is not kept for a recording whose transcript was removed by retention', async () => {
  const owner = service.newOwner();
  const [call] = await batchOf(owner, 1);
  await service.db.query(
    `UPDATE call SET status = 'completed', history = history || '{"status": "completed", "removed": "transcript"}'::jsonb WHERE uuid = $1`,
    [call],
  );
  const key = `transcripts/${owner.firmUuid}/${call}/1.json`;
  await service.putAt(key, '{"utterances":[]}');
  await sweepAfter(6 * HOUR + MINUTE);
  expect(await exists(key)).toBe(false);
});

/** Processes a batch of recordings and returns its calls. */
async function batchOf(owner: Owner, count: number): Promise<string[]> {
  const names = fileNames(count);
  await service.uploadBatch(owner, audioCsvOf(names.map((audio_file_name) => ({ audio_file_name }))), zipOf(names));
  return (await service.callsOf(owner)).map(({ uuid }) => uuid);
}

async function archiveOf(owner: Owner): Promise<string | undefined> {
  return (await service.objectsOf(owner))[0];
}

async function set(uuid: string, status: string, retryable: boolean | null = null): Promise<void> {
  const failure = retryable === null ? null : JSON.stringify({ retryable });
  await service.db.query('UPDATE call SET status = $2, failure = $3 WHERE uuid = $1', [uuid, status, failure]);
}

async function storeRecording(uuid: string): Promise<void> {
  await service.db.query(`UPDATE recording SET object_key = 'recordings/x.wav' WHERE call_uuid = $1`, [uuid]);
}

it('an archive is kept until every recording is extracted, however long that takes', async () => {
  const owner = service.newOwner();
  const [first, second] = await batchOf(owner, 2);
  await storeRecording(first!);
  await sweepAfter(30 * DAY);
  expect(await archiveOf(owner)).toMatch(/\.zip$/);
  await storeRecording(second!);
  await sweepAfter(0);
  expect(await archiveOf(owner)).toBeUndefined();
  const [batch] = (await service.deps.batches.list(owner.firmUuid, { page: 1, size: 10 })).items;
  expect(await service.deps.batches.find(owner.firmUuid, batch!.batch_id)).toMatchObject({
    accepted: 2,
    archiveKey: null,
    archiveBytes: null,
  });
});

it('an archive is kept seven days for retryable extraction failures, and not for permanent ones', async () => {
  const began = Date.now();
  const owner = service.newOwner();
  const [lost, failed] = await batchOf(owner, 2);
  await set(lost!, 'failed', false);
  await set(failed!, 'failed', true);
  await sweepAfter(7 * DAY - MINUTE, began);
  expect(await archiveOf(owner)).toBeDefined();
  await sweepAfter(7 * DAY + MINUTE);
  expect(await archiveOf(owner)).toBeUndefined();
  // Nothing is left to retry it with.
  expect((await service.deps.calls.get(owner.firmUuid, failed!)).failure).toMatchObject({ retryable: false });

  const other = service.newOwner();
  const [gone, canceled] = await batchOf(other, 2);
  await set(gone!, 'failed', false);
  await set(canceled!, 'canceled');
  await sweepAfter(0);
  expect(await archiveOf(other)).toBeUndefined();
});

it('an archive without a batch is removed after six hours', async () => {
  const began = Date.now();
  const { firmUuid } = service.newOwner();
  const key = `frozen/${firmUuid}/${randomUUID()}.zip`;
  await service.putAt(key, 'bytes');
  await sweepAfter(6 * HOUR - MINUTE, began);
  expect(await exists(key)).toBe(true);
  await sweepAfter(6 * HOUR + MINUTE);
  expect(await exists(key)).toBe(false);
});

it('an archive is not removed while a retry uses it', async () => {
  const owner = service.newOwner();
  const [uuid] = await batchOf(owner, 1);
  await set(uuid!, 'failed', true);
  const [batch] = (await service.deps.batches.list(owner.firmUuid, { page: 1, size: 10 })).items;
  let sweeping: Promise<void> | undefined;
  await service.db.transaction(async (tx) => {
    expect(await service.deps.batches.lockArchive(tx, owner.firmUuid, batch!.batch_id)).not.toBeNull();
    await tx.query(`UPDATE call SET status = 'queued' WHERE uuid = $1`, [uuid]);
    sweeping = sweepAfter(8 * DAY);
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  await sweeping;
  expect(await archiveOf(owner)).toBeDefined();
});

it('claims of events are deleted after thirty days', async () => {
  const [old, young] = [randomUUID(), randomUUID()];
  await service.db.query(
    `INSERT INTO claimed_event (consumer, event_id, at)
     VALUES ('test', $1, now() - interval '31 days'), ('test', $2, now() - interval '29 days')`,
    [old, young],
  );
  await sweepAfter(0);
  expect(await service.db.query('SELECT event_id FROM claimed_event')).toEqual([{ event_id: young }]);
});

it('old claims, tombstones and receipts are found without reading all of them', async () => {
  await service.db.query(
    `INSERT INTO claimed_event (consumer, event_id) SELECT 'test', gen_random_uuid() FROM generate_series(1, 20000)`,
  );
  await service.db.query(
    'INSERT INTO erased_subject (firm_uuid, subject) SELECT gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 20000)',
  );
  await service.db.query(
    `INSERT INTO erasure (firm_uuid, call_uuid, removed, erased_at, finished_at)
     SELECT gen_random_uuid(), gen_random_uuid(), '[]', now(), now() FROM generate_series(1, 20000)`,
  );
  await service.db.query('ANALYZE claimed_event, erased_subject, erasure');
  const [before, after] = await service.db.transaction(async (tx) => {
    // Counts of earlier transactions on the connection are reported for a while.
    const counted = () =>
      tx.query<{ name: string; scans: number }>(
        `SELECT name, pg_stat_get_xact_numscans(name::regclass) AS scans
         FROM unnest(ARRAY['claimed_event', 'erased_subject', 'erasure']) AS name ORDER BY name`,
      );
    const earlier = await counted();
    await pruneProcessed(tx, 30);
    await erasures(tx).prune(30);
    return [earlier, await counted()];
  });
  expect(after).toEqual(before);
});

it('what cannot be removed keeps nothing else, and is tried again', async () => {
  const owner = service.newOwner();
  const [first, second] = [
    await service.put(owner, csvOf([{}]), 'a.csv'),
    await service.put(owner, csvOf([{}]), 'b.csv'),
  ];
  const { objects } = service.deps;
  const remove = async (key: string) => {
    if (key === first) throw new Error('damaged');
    await objects.remove(key);
  };
  await service.db.query(`INSERT INTO claimed_event VALUES ('old', gen_random_uuid(), now() - interval '31 days')`);
  const now = new Date(Date.now() + HOUR + MINUTE);
  await expect(
    sweep({ ...service.deps, claimDays: 30, objects: objectsBut(objects, { remove }) }, now),
  ).rejects.toThrow('damaged');
  expect([await exists(first), await exists(second)]).toEqual([true, false]);
  expect(await service.db.query(`SELECT 1 FROM claimed_event WHERE consumer = 'old'`)).toEqual([]);
  await sweep({ ...service.deps, claimDays: 30 }, now);
  expect(await exists(first)).toBe(false);
});
