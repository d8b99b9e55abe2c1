import { randomUUID } from 'node:crypto';
import type { Event } from '@call-analysis/events';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { migrateBus } from '../../open.ts';
import { LARGE_BODY_BYTES } from '../large-bodies.ts';
import type { OutboxRow } from './outbox-store.ts';
import {
  eventsOf,
  removeOutgoing,
  headersOf,
  type Outgoing,
  outboxDepth,
  putIntoOutbox,
  requireOutbox,
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

  it('keeps the order of events, and consecutive events of one type, firm and priority share a row', async () => {
    const [firm, other] = [randomUUID(), randomUUID()];
    const events = [
      ...numbers(60).map((n) => outgoingEvent(n, { firmuuid: firm })),
      outgoingEvent(60, { firmuuid: other }),
      outgoingEvent(61, { firmuuid: other, priority: 3 }),
      outgoingEvent(62, { firmuuid: other, type: 'test.other.v1' }),
      outgoingEvent(63, { firmuuid: other, data: { text: '\u0000 \ud800 “Ö”' } }),
    ];
    await put(events.map((event) => ({ event })));
    const found = await rows();
    expect(found.map((row) => row.events)).toEqual([25, 25, 10, 1, 1, 1, 1]);
    expect(found.flatMap(eventsOf)).toEqual([...events.slice(0, 61), ...events.slice(62), events[61]]);
    expect(new Set(found.map(({ topic }) => topic))).toEqual(new Set(['test.happened.v1', 'test.other.v1']));
    expect(await outboxDepth({ schema: 'bus', query: service.query })).toMatchObject({
      consumer: 'outbox',
      waiting: 64,
    });
  });

  it('an event for another topic or with headers gets its own row', async () => {
    const headers = { 'dead-code': 'Ö' };
    const event = outgoingEvent(1, {});
    await put([
      { event },
      { event, topic: 'test.happened.v1.dlq', headers },
      { event, topic: 'test.happened.v1.dlq', headers },
    ]);
    const found = await rows();
    expect(found.map(({ topic }) => topic)).toEqual([
      'test.happened.v1',
      'test.happened.v1.dlq',
      'test.happened.v1.dlq',
    ]);
    expect(found.map(headersOf)).toEqual([{}, headers, headers]);
  });

  it('without an object store, a body that is too large for Kafka is refused', async () => {
    const large = outgoingEvent(1, { data: 'ю'.repeat(LARGE_BODY_BYTES / 2) });
    const small = outgoingEvent(1, { data: 'x'.repeat(LARGE_BODY_BYTES - 2) });
    await expect(put([{ event: large }])).rejects.toMatchObject({
      code: 'FACT_TOO_LARGE',
      message: expect.stringContaining('object store'),
    });
    expect(await rows()).toEqual([]);
    await put([{ event: small }]);
    await put([{ event: large }], true);
    expect((await rows()).flatMap(eventsOf)).toEqual([small, large]);
  });

  it('removes the events of a firm about a subject, except those of some types, and no others', async () => {
    const [firmuuid, subject] = [randomUUID(), randomUUID()];
    const kept = [
      ...numbers(30).map((n) => outgoingEvent(n, { firmuuid })),
      outgoingEvent(30, { firmuuid, subject, type: 'test.erased.v1' }),
      outgoingEvent(31, { subject }),
    ];
    const secrets = [outgoingEvent(100, { firmuuid, subject }), outgoingEvent(101, { firmuuid, subject, priority: 2 })];
    await put([...kept.slice(0, 10), ...secrets, ...kept.slice(10)].map((event) => ({ event })));
    const removePending = () =>
      service.transaction((tx) =>
        removeOutgoing(tx, 'bus', { firmUuid: firmuuid, subject, except: ['test.erased.v1'] }),
      );
    expect(await removePending()).toBe(2);
    expect(await removePending()).toBe(0);
    const left = await rows();
    expect(left.flatMap(eventsOf).toSorted(byNumber)).toEqual(kept);
    expect(left.reduce((sum, { events }) => sum + events, 0)).toBe(kept.length);
  });

  it('opening without the outbox fails with the command that creates it', async () => {
    const queues = { name: 'ingest', schema: 'ingest', query: service.query } as const;
    await expect(requireOutbox(queues)).rejects.toThrow('npm run service -- ingest migrate');
  });
});

function outgoingEvent(n: number, event: Partial<Event>): Event {
  return {
    id: randomUUID(),
    source: 'test',
    type: 'test.happened.v1',
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
