import { randomUUID } from 'node:crypto';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { alreadyClaimed, claim, once, pruneClaims } from './claim.ts';

let database: TestDatabase;
let service: Database;

beforeAll(async () => {
  database = await freshDatabase();
  service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  await service.query(
    `CREATE TABLE claimed_event (consumer text NOT NULL, event_id uuid NOT NULL,
       at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (consumer, event_id))`,
  );
});

afterAll(async () => {
  await service?.close();
  await database?.drop();
});

const identified = (ids: readonly string[]) => ids.map((id) => ({ id }));
const claimed = (consumer: string, ids: readonly string[]) =>
  service.transaction((tx) => claim(tx, consumer, identified(ids)));

it('an event can be claimed once by each consumer', async () => {
  const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
  expect(await claimed('a', [one, two, one])).toEqual(new Set([one, two]));
  expect(await claimed('a', [two, three])).toEqual(new Set([three]));
  expect(await claimed('b', [one])).toEqual(new Set([one]));
  expect(await claimed('b', [])).toEqual(new Set());
  expect(await alreadyClaimed(service, 'a', identified([one, three.toUpperCase(), randomUUID()]))).toEqual(
    new Set([one, three.toUpperCase()]),
  );
  expect(await alreadyClaimed(service, 'b', [{ id: two }])).toEqual(new Set());
});

it('work is done once for each event, and again when its transaction failed', async () => {
  const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
  const done: string[][] = [];
  const work = async (_tx: unknown, fresh: readonly { id: string }[]) => void done.push(fresh.map(({ id }) => id));
  const consuming = { db: service, consumer: 'once' };
  await once(consuming, identified([one, two]), work);
  await once(consuming, identified([two]), work);
  await once({ db: service, consumer: 'other' }, identified([two]), work);
  const failed = once(consuming, identified([two, three]), async () => Promise.reject(new Error('failed')));
  await expect(failed).rejects.toThrow('failed');
  await once(consuming, identified([two, three]), work);
  expect(done).toEqual([[one, two], [two], [three]]);
});

it('upper and lower case are the same id, which is returned as given', async () => {
  const id = randomUUID();
  expect(await claimed('a', [id.toUpperCase()])).toEqual(new Set([id.toUpperCase()]));
  expect(await claimed('a', [id])).toEqual(new Set());
});

it('a claim is undone with its transaction', async () => {
  const id = randomUUID();
  const undone = service.transaction(async (tx) => {
    await claim(tx, 'a', [{ id }]);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await claimed('a', [id])).toEqual(new Set([id]));
});

it('concurrent transactions claim the same events in any order, and one gets them', async () => {
  const ids = Array.from({ length: 200 }, () => randomUUID());
  const orders = [ids, ids.toReversed(), ids.toSorted(), ids.toSorted().toReversed()];
  const results = await Promise.all(orders.map((order) => claimed('race', order)));
  expect(results.map((each) => each.size).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 200]);
});

it('pruneClaims removes old claims and no others', async () => {
  const [old, recent] = [randomUUID(), randomUUID()];
  await claimed('prune', [old, recent]);
  await service.query("UPDATE claimed_event SET at = now() - interval '8 days' WHERE event_id = $1", [old]);
  expect(await pruneClaims(service, 7)).toBe(1);
  expect(await claimed('prune', [old, recent])).toEqual(new Set([old]));
});
