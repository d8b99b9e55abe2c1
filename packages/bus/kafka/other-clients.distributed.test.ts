import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { newTraceparent } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { BusPlace } from '../contract/index.ts';
import { openBus } from '../open.ts';
import { type Bus, route } from '../port.ts';
import { findStranger, type Stranger } from '../test/other-client.ts';
import type { Kafka } from './config.ts';
import { kafkaOf, openKafkaPlace } from '../test/kafka.ts';
import { topicOf } from './topics/topics.ts';

const Told = eventType('test.told.v1', z.unknown());
const silent = { info() {}, warn() {}, error() {} };

let kafka: Kafka;
let place: BusPlace;
let bus: Bus;
let stranger: Stranger;

beforeAll(async () => {
  kafka = kafkaOf({ partitions: 3 });
  [place, stranger] = await Promise.all([openKafkaPlace(kafka), findStranger()]);
  bus = await openBus(place.config, { name: 'test', log: silent });
}, 300_000);
afterAll(async () => {
  await bus?.close();
  await place?.close();
});

function told(data: unknown, more: Partial<Event> = {}): Event {
  return {
    id: randomUUID(),
    source: 'ingest',
    type: Told.type,
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

describe('a consumer that is not ours', () => {
  it('reads every event whole with a library of CloudEvents: its attributes, our extensions and its body', async () => {
    const events = [
      told({ attempt: 1, transcript: [{ text: 'Добрый день, қўнғироқ 🎧' }] }),
      told({}, { priority: 7, traceparent: undefined }),
      told(null, { subject: 'Бишкек № 5' }),
      told([1, 2.5, 'three', true], { requestid: undefined }),
    ];
    await place.transaction((tx) => bus.publish(tx, events));
    const read = await stranger.read(kafka.brokers, topicOf(kafka, Told.type), events.length);
    expect(read).toHaveLength(events.length);
    for (const { data, priority, time, ...attributes } of events) {
      const found = read.find((each) => each.attributes['id'] === attributes.id);
      const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
      expect(found).toEqual({
        attributes: {
          specversion: '1.0',
          ...Object.fromEntries(given),
          priority: String(priority),
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

describe('a producer that is not ours', () => {
  it('is heard like one of us, when it says which firm it speaks of', async () => {
    const Strange = eventType('test.strange.v1', z.object({ greeting: z.string() }));
    const heard: Event[] = [];
    const handle = async (events: readonly Event[]) => {
      heard.push(...events);
    };
    await bus.subscribe({ consumer: 'test.listens', routes: [route({ event: Strange, handle })] });
    await waitUntil(() => bus.ready().then(() => true));
    const [id, subject, firmuuid] = [randomUUID(), randomUUID(), randomUUID()];
    const source = 'https://partner.example/crm';
    const attributes = {
      specversion: '1.0',
      id,
      source,
      type: Strange.type,
      subject,
      firmuuid,
      datacontenttype: 'application/json',
    };
    const data = { greeting: 'салом' };
    await stranger.write(kafka.brokers, topicOf(kafka, Strange.type), [
      { attributes: { ...attributes, time: '2026-03-01T15:00:00+05:00' }, data },
    ]);
    await waitUntil(() => heard.length === 1);
    expect(heard[0]).toMatchObject({
      id,
      source,
      type: Strange.type,
      subject,
      firmuuid,
      priority: 0,
      time: '2026-03-01T10:00:00.000Z',
      data,
    });
  });
});
