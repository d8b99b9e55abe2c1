import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { findErased, writeTombstone, pruneTombstones } from './tombstones.ts';

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

it('what was buried is told from what was not, by firm', async () => {
  const [dead, alive] = [newEvent(), newEvent()];
  const elsewhere = { ...newEvent(), subject: dead.subject };
  await service.transaction((tx) => writeTombstone(tx, dead.firmuuid, dead.subject));
  await service.transaction((tx) => writeTombstone(tx, dead.firmuuid, dead.subject));
  const asked = (events: ReturnType<typeof newEvent>[]) => service.transaction((tx) => findErased(tx, events));
  expect(await asked([dead, alive])).toEqual(new Set([dead.subject]));
  expect(await asked([elsewhere])).toEqual(new Set());
  expect(await asked([])).toEqual(new Set());
});

it('a burial waits for a result that is just being stored, and so finds it', async () => {
  const event = newEvent();
  const told: string[] = [];
  const asked = Promise.withResolvers<void>();
  const storing = service.transaction(async (tx) => {
    expect((await findErased(tx, [event, newEvent(), newEvent()])).size).toBe(0);
    asked.resolve();
    await pause(150);
    told.push('stored');
  });
  await asked.promise;
  await service.transaction(async (tx) => {
    await writeTombstone(tx, event.firmuuid, event.subject);
    told.push('buried');
  });
  await storing;
  expect(told).toEqual(['stored', 'buried']);
});

it('a thousand events at once, in any order, do not lock each other or a burial out', async () => {
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

it('old burials are forgotten, and no others', async () => {
  const [old, young] = [newEvent(), newEvent()];
  for (const { firmuuid, subject } of [old, young])
    await service.transaction((tx) => writeTombstone(tx, firmuuid, subject));
  await service.query("UPDATE erased_subject SET at = now() - interval '8 days' WHERE subject = $1", [old.subject]);
  await pruneTombstones(service, 7);
  expect(await service.transaction((tx) => findErased(tx, [old, young]))).toEqual(new Set([young.subject]));
});
