import { randomUUID } from 'node:crypto';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { findErased, pruneTombstones, writeTombstone } from './tombstones.ts';

let database: TestDatabase;
let service: Database;

beforeAll(async () => {
  database = await freshDatabase();
  service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  await service.query(
    `CREATE TABLE erased_subject (firm_uuid uuid NOT NULL, subject uuid NOT NULL,
       at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (firm_uuid, subject))`,
  );
});

afterAll(async () => {
  await service?.close();
  await database?.drop();
});

const newEvent = () => ({ firmuuid: randomUUID(), subject: randomUUID() });

it('findErased returns the erased subjects of the same firm and no others', async () => {
  const [erased, kept] = [newEvent(), newEvent()];
  const elsewhere = { ...newEvent(), subject: erased.subject };
  await service.transaction((tx) => writeTombstone(tx, erased.firmuuid, erased.subject));
  await service.transaction((tx) => writeTombstone(tx, erased.firmuuid, erased.subject));
  const found = (events: ReturnType<typeof newEvent>[]) => service.transaction((tx) => findErased(tx, events));
  expect(await found([erased, kept])).toEqual(new Set([erased.subject]));
  expect(await found([elsewhere])).toEqual(new Set());
  expect(await found([])).toEqual(new Set());
});

const WAITING_FOR_A_LOCK = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

it('writeTombstone waits for a transaction that is storing a result', async () => {
  const event = newEvent();
  const order: string[] = [];
  const asked = Promise.withResolvers<void>();
  const observer = openDatabase({ url: database.url('ingest'), schema: 'ingest', poolSize: 1 });
  const storing = service.transaction(async (tx) => {
    expect((await findErased(tx, [event, newEvent(), newEvent()])).size).toBe(0);
    asked.resolve();
    await waitUntil(async () => (await observer.query(WAITING_FOR_A_LOCK)).length > 0);
    order.push('stored');
  });
  await asked.promise;
  await service.transaction(async (tx) => {
    await writeTombstone(tx, event.firmuuid, event.subject);
    order.push('erased');
  });
  await storing;
  await observer.close();
  expect(order).toEqual(['stored', 'erased']);
});

it('transactions with a thousand events in any order do not deadlock with each other or with tombstones', async () => {
  const events = Array.from({ length: 1000 }, newEvent);
  await Promise.all([
    service.transaction((tx) => findErased(tx, events)),
    service.transaction((tx) => findErased(tx, events.toReversed())),
    ...events
      .slice(0, 5)
      .map((event) => service.transaction((tx) => writeTombstone(tx, event.firmuuid, event.subject))),
  ]);
  expect((await service.transaction((tx) => findErased(tx, events))).size).toBe(5);
});

it('pruneTombstones removes old tombstones and no others', async () => {
  const [old, recent] = [newEvent(), newEvent()];
  for (const { firmuuid, subject } of [old, recent])
    await service.transaction((tx) => writeTombstone(tx, firmuuid, subject));
  await service.query("UPDATE erased_subject SET at = now() - interval '8 days' WHERE subject = $1", [old.subject]);
  await pruneTombstones(service, 7);
  expect(await service.transaction((tx) => findErased(tx, [old, recent]))).toEqual(new Set([recent.subject]));
});
