import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { csvOf, faultOf, IngestUnderTest } from './ingest-under-test.ts';
import { sweep } from './sweep.ts';

const service = new IngestUnderTest();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Sweeps as it will be done after this time. */
function sweepAfter(ms: number): Promise<void> {
  return sweep(service.parts, new Date(Date.now() + ms));
}

async function stands(key: string): Promise<boolean> {
  return (await service.parts.objects.head(key)) !== null;
}

it('an upload keeps its bytes for its hour and not longer, processed or not', async () => {
  const owner = service.newOwner();
  const [left, done] = [
    await service.put(owner, csvOf([{}]), 'left.csv'),
    await service.put(owner, csvOf([{}]), 'done.csv'),
  ];
  const batch = await service.process(owner, done);
  await sweepAfter(59 * MINUTE);
  expect([await stands(left), await stands(done)]).toEqual([true, true]);
  await sweepAfter(HOUR + MINUTE);
  expect([await stands(left), await stands(done)]).toEqual([false, false]);
  expect(await service.process(owner, done)).toEqual(batch);
});

it('bytes at a key that a later upload was given are spared until its own hour is over', async () => {
  const owner = service.newOwner();
  const key = await service.put(owner, csvOf([{}]));
  await service.expire(key);
  expect(await service.put(owner, csvOf([{}, {}]))).toBe(key);
  await sweepAfter(0);
  expect(await service.process(owner, key)).toMatchObject({ accepted: 2 });
  await sweepAfter(HOUR + MINUTE);
  expect(await stands(key)).toBe(false);
});

it('the recordings of an expired upload go with its CSV', async () => {
  const { firmUuid, userUuid } = service.newOwner();
  const files = {
    prefix: `UZ/${firmUuid}/${userUuid}/`,
    metadata: 'a.csv',
    audios: 'a.zip',
    rename: (name: string) => `x${name}`,
  };
  const session = await service.parts.store.uploads.open({ firmUuid, userUuid }, files, new Date(), HOUR);
  const keys = [session.metadataKey, session.audioKey!];
  for (const key of keys) await service.putAt(key, 'bytes');
  await sweepAfter(HOUR + MINUTE);
  expect([await stands(keys[0]!), await stands(keys[1]!)]).toEqual([false, false]);
});

it('as many uploads as have expired are swept at once, each a single time', async () => {
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

it('a CSV of refused rows is kept for seven days, whether nothing was accepted or the rest was', async () => {
  const owner = service.newOwner();
  const csv = csvOf([{}, { operator_name: '' }]);
  const refused = await faultOf(service.upload(owner, csv));
  const { rejectedUuid } = await service.upload(owner, csv, 'skip');
  const uuids = [String(refused.details?.['rejected_uuid']), rejectedUuid!];
  const { rejectedKey } = service.parts.store.batches;
  await sweepAfter(7 * DAY - MINUTE);
  for (const uuid of uuids) expect(await stands(await rejectedKey(owner.firmUuid, uuid, new Date()))).toBe(true);
  expect(await service.objectsOf(owner)).toHaveLength(2);
  await sweepAfter(7 * DAY + MINUTE);
  expect(await service.objectsOf(owner)).toEqual([]);
  for (const uuid of uuids) {
    expect(await faultOf(rejectedKey(owner.firmUuid, uuid, new Date()))).toMatchObject({ code: 'NOT_FOUND' });
  }
});

it('what a crash left between bytes and row goes after six hours, when nothing can be working on it any more', async () => {
  const { firmUuid } = service.newOwner();
  const orphans = [`frozen/${firmUuid}/${randomUUID()}.csv`, `rejected/${firmUuid}/${randomUUID()}.csv`];
  for (const key of orphans) await service.putAt(key, 'bytes');
  await sweepAfter(6 * HOUR - MINUTE);
  expect([await stands(orphans[0]!), await stands(orphans[1]!)]).toEqual([true, true]);
  await sweepAfter(6 * HOUR + MINUTE);
  expect([await stands(orphans[0]!), await stands(orphans[1]!)]).toEqual([false, false]);
});

it('a transcript that was sent by key goes once its call has ended, not before', async () => {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{}, {}]));
  const [ended, waiting] = await service.callsOf(owner);
  await service.db.query(`UPDATE call SET status = 'completed' WHERE uuid = $1`, [ended!.uuid]);
  const keyOf = (uuid: string) => `transcripts/${owner.firmUuid}/${uuid}/1.json`;
  for (const { uuid } of [ended!, waiting!]) await service.putAt(keyOf(uuid), '{"utterances":[]}');
  await sweepAfter(6 * HOUR + MINUTE);
  expect([await stands(keyOf(ended!.uuid)), await stands(keyOf(waiting!.uuid))]).toEqual([false, true]);
});

it('claims of events are forgotten after thirty days', async () => {
  const [old, young] = [randomUUID(), randomUUID()];
  await service.db.query(
    `INSERT INTO claimed_event (consumer, event_id, at)
     VALUES ('test', $1, now() - interval '31 days'), ('test', $2, now() - interval '29 days')`,
    [old, young],
  );
  await sweepAfter(0);
  expect(await service.db.query('SELECT event_id FROM claimed_event')).toEqual([{ event_id: young }]);
});
