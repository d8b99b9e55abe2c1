import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { newTraceparent } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Kafka } from '../config.ts';
import type { TransportUnderTest } from '../contract/index.ts';
import { openBus } from '../open.ts';
import { type Bus, route } from '../port.ts';
import { testKafka, openKafkaTransport } from '../test/kafka.ts';
import { openOtherClient, type OtherClient } from '../test/other-client.ts';
import { topicOf } from './topics/topic.ts';

const Happened = eventType('test.happened.v1', z.unknown());
const silent = { info() {}, warn() {}, error() {} };

let kafka: Kafka;
let transport: TransportUnderTest;
let bus: Bus;
let otherClient: OtherClient;

beforeAll(async () => {
  kafka = testKafka({ partitions: 3 });
  [transport, otherClient] = await Promise.all([openKafkaTransport(kafka), openOtherClient()]);
  bus = await openBus(transport.config, { name: 'test', log: silent });
}, 300_000);
afterAll(async () => {
  await bus?.close();
  await transport?.close();
});

function published(data: unknown, more: Partial<Event> = {}): Event {
  return {
    id: randomUUID(),
    source: 'ingest',
    type: Happened.type,
    time: new Date().toISOString(),
    subject: randomUUID(),
    firmuuid: randomUUID(),
    priority: 0,
    traceparent: newTraceparent(),
    requestid: randomUUID(),
    data,
    ...more,
  };
}

describe('another consumer', () => {
  it('reads events completely with a CloudEvents library: attributes, extensions and body', async () => {
    const events = [
      published({ attempt: 1, transcript: [{ text: 'Добрый день, қўнғироқ 🎧' }] }),
      published({}, { priority: 7, traceparent: undefined }),
      published(null, { subject: 'Бишкек № 5' }),
      published([1, 2.5, 'three', true], { requestid: undefined }),
    ];
    await transport.transaction((tx) => bus.publish(tx, events));
    const read = await otherClient.read(kafka.brokers, topicOf(kafka, Happened.type), events.length);
    expect(read).toHaveLength(events.length);
    for (const { data, priority, time, ...attributes } of events) {
      const found = read.find((each) => each.attributes['id'] === attributes.id);
      const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
      expect(found).toEqual({
        attributes: {
          specversion: '1.0',
          ...Object.fromEntries(given),
          turn: String(priority),
          time: expect.any(String),
          datacontenttype: 'application/json',
          partitionkey: attributes.subject,
        },
        data,
      });
      expect(new Date(found!.attributes['time']!).toISOString()).toBe(time);
    }
  });
});

describe('another producer', () => {
  it('publishes events that are received, if they name their firm', async () => {
    const Foreign = eventType('test.foreign.v1', z.object({ greeting: z.string() }));
    const received: Event[] = [];
    const handle = async (events: readonly Event[]) => {
      received.push(...events);
    };
    await bus.subscribe({ consumer: 'test.consumer', routes: [route({ event: Foreign, handle })] });
    await waitUntil(() => bus.ready().then(() => true));
    const [id, subject, firmuuid] = [randomUUID(), randomUUID(), randomUUID()];
    const source = 'https://partner.example/crm';
    const attributes = {
      specversion: '1.0',
      id,
      source,
      type: Foreign.type,
      subject,
      firmuuid,
      datacontenttype: 'application/json',
    };
    const data = { greeting: 'салом' };
    await otherClient.write(kafka.brokers, topicOf(kafka, Foreign.type), [
      { attributes: { ...attributes, time: '2026-03-01T15:00:00+05:00' }, data },
    ]);
    await waitUntil(() => received.length === 1);
    expect(received[0]).toMatchObject({
      id,
      source,
      type: Foreign.type,
      subject,
      firmuuid,
      priority: 0,
      time: '2026-03-01T10:00:00.000Z',
      data,
    });
  });
});
