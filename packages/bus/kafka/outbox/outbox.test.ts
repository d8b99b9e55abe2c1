import { randomUUID } from 'node:crypto';
import type { Event } from '@call-analysis/events';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { migrateBus } from '../../queue/migrate.ts';
import {
  eventsOf,
  removeOutgoing,
  headersOf,
  needOutbox,
  type Outgoing,
  OVERFLOW_BYTES,
  outboxDepth,
  type OutboxRow,
  putIntoOutbox,
} from './outbox.ts';

describe('the outbox', () => {
  let database: TestDatabase;
  let service: Database;

  beforeAll(async () => {
    database = await freshDatabase();
    await Promise.all([1, 2].map(() => migrateBus({ url: database.url('bus'), schema: 'bus' })));
    service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  });

  beforeEach(() => service.query('DELETE FROM bus.outbox'));

  afterAll(async () => {
    await service?.close();
    await database?.drop();
  });

  const put = (outgoing: readonly Outgoing[], overflow = false) =>
    service.transaction((tx) => putIntoOutbox(tx, 'bus', outgoing, { overflow }));
  const rows = () =>
    service.query<OutboxRow & { events: number; turn: number }>(
      'SELECT turn, seq::text, topic, headers, events, data FROM bus.outbox ORDER BY turn, outbox.seq',
    );

  it('holds what is told in its order, neighbours of one type, firm and turn together', async () => {
    const [firm, other] = [randomUUID(), randomUUID()];
    const events = [
      ...numbers(60).map((n) => told(n, { firmuuid: firm })),
      told(60, { firmuuid: other }),
      told(61, { firmuuid: other, priority: 3 }),
      told(62, { firmuuid: other, type: 'test.other.v1' }),
      told(63, { firmuuid: other, data: { text: '\u0000 \ud800 “Ö”' } }),
    ];
    await put(events.map((event) => ({ event })));
    const found = await rows();
    expect(found.map((row) => row.events)).toEqual([25, 25, 10, 1, 1, 1, 1]);
    expect(found.flatMap(eventsOf)).toEqual([...events.slice(0, 61), ...events.slice(62), events[61]]);
    expect(new Set(found.map(({ topic }) => topic))).toEqual(new Set(['test.told.v1', 'test.other.v1']));
    expect(await outboxDepth({ schema: 'bus', query: service.query })).toMatchObject({
      consumer: 'outbox',
      waiting: 64,
    });
  });

  it('keeps apart what goes to another topic or has headers of its own', async () => {
    const headers = { 'dead-code': 'Ö' };
    const event = told(1, {});
    await put([
      { event },
      { event, topic: 'test.told.v1.dlq', headers },
      { event, topic: 'test.told.v1.dlq', headers },
    ]);
    const found = await rows();
    expect(found.map(({ topic }) => topic)).toEqual(['test.told.v1', 'test.told.v1.dlq', 'test.told.v1.dlq']);
    expect(found.map(headersOf)).toEqual([{}, headers, headers]);
  });

  it('refuses what is too large for Kafka where there is no object store, and says so', async () => {
    const large = told(1, { data: 'ю'.repeat(OVERFLOW_BYTES / 2) });
    const small = told(1, { data: 'x'.repeat(OVERFLOW_BYTES - 2) });
    await expect(put([{ event: large }])).rejects.toMatchObject({
      code: 'FACT_TOO_LARGE',
      message: expect.stringContaining('object store'),
    });
    expect(await rows()).toEqual([]);
    await put([{ event: small }]);
    await put([{ event: large }], true);
    expect((await rows()).flatMap(eventsOf)).toEqual([small, large]);
  });

  it('forgets a subject of a firm and nothing else, but what tells of it', async () => {
    const [firmuuid, subject] = [randomUUID(), randomUUID()];
    const kept = [
      ...numbers(30).map((n) => told(n, { firmuuid })),
      told(30, { firmuuid, subject, type: 'test.erased.v1' }),
      told(31, { subject }),
    ];
    const secrets = [told(100, { firmuuid, subject }), told(101, { firmuuid, subject, priority: 2 })];
    await put([...kept.slice(0, 10), ...secrets, ...kept.slice(10)].map((event) => ({ event })));
    const removePending = () =>
      service.transaction((tx) => removeOutgoing(tx, 'bus', { firmUuid: firmuuid, subject, but: 'test.erased.v1' }));
    expect(await removePending()).toEqual({ removed: 2 });
    expect(await removePending()).toEqual({ removed: 0 });
    const left = await rows();
    expect(left.flatMap(eventsOf).toSorted(byNumber)).toEqual(kept);
    expect(left.reduce((sum, { events }) => sum + events, 0)).toBe(kept.length);
  });

  it('is asked for by name where it is missing', async () => {
    const queues = { name: 'ingest', schema: 'ingest', query: service.query } as const;
    await expect(needOutbox(queues)).rejects.toThrow('npm run service -- ingest migrate');
  });
});

function told(n: number, event: Partial<Event>): Event {
  return {
    id: randomUUID(),
    source: 'test',
    type: 'test.told.v1',
    time: new Date().toISOString(),
    subject: randomUUID(),
    firmuuid: randomUUID(),
    priority: 0,
    data: { n },
    ...event,
  };
}

function byNumber(one: Event, other: Event): number {
  return (one.data as { n: number }).n - (other.data as { n: number }).n;
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
