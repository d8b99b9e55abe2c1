import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { newTraceparent } from '@call-analysis/runtime';
import { makeTopic, waitUntil } from '@call-analysis/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs, { type Admin, CompressionTypes, type Producer } from 'kafkajs';
import { z } from 'zod';
import type { BusPlace } from '../../contract/index.ts';
import { openBus } from '../../open.ts';
import { type Bus, route } from '../../port.ts';
import { connect } from './client.ts';
import type { Kafka } from '../config.ts';
import { kafkaOf, openKafkaPlace } from '../../test/kafka.ts';
import { toMessage } from '../message.ts';
import { topicOf } from '../topics/topics.ts';

const Told = eventType('test.pressed.v1', z.object({ greeting: z.string() }));
const silent = { info() {}, warn() {}, error() {} };

const said: string[] = [];
const note = (_fields: object, message?: string) => void said.push(message ?? '');
const complained = (fields: { err?: Error }, message?: string) =>
  void said.push(fields.err?.message ?? '', message ?? '');
const log = { info: note, warn: complained, error: complained };

let kafka: Kafka;
let place: BusPlace;
let bus: Bus;
let admin: Admin;
let stranger: Producer;

beforeEach(async () => {
  kafka = kafkaOf();
  said.length = 0;
  const client = connect(kafka, { name: 'test', log: silent });
  [admin, stranger] = [client.admin(), client.producer()];
  [place] = await Promise.all([openKafkaPlace(kafka), admin.connect(), stranger.connect()]);
  bus = await openBus(place.config, { name: 'test', log });
});
afterEach(async () => {
  await bus?.close();
  await Promise.all([place?.close(), admin?.disconnect(), stranger?.disconnect()]);
});

// In a frame of LZ4 a block may stand as it is; that is all that a stranger needs here.
let before: () => unknown;
beforeAll(() => {
  before = kafkajs.CompressionCodecs[CompressionTypes.LZ4];
});
afterAll(() => {
  kafkajs.CompressionCodecs[CompressionTypes.LZ4] = before;
});

function lz4Frame({ buffer }: { readonly buffer: Buffer }): Buffer {
  const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE((buffer.length | 0x8000_0000) >>> 0);
  return Buffer.concat([header, size, buffer, Buffer.alloc(4)]);
}

/** A stranger's message; whoever reads it in this process meets what the client meets by itself. */
async function strangerSends(compression: CompressionTypes): Promise<Event> {
  const event: Event = {
    id: randomUUID(),
    source: 'partner',
    type: Told.type,
    time: new Date().toISOString(),
    subject: randomUUID(),
    firmuuid: randomUUID(),
    priority: 0,
    traceparent: newTraceparent(),
    data: { greeting: 'салом '.repeat(50) },
  };
  kafkajs.CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: async (encoder: { buffer: Buffer }) => lz4Frame(encoder),
  });
  try {
    await stranger.send({ topic: topicOf(kafka, Told.type), messages: [toMessage(event)], compression });
  } finally {
    kafkajs.CompressionCodecs[CompressionTypes.LZ4] = before;
  }
  return event;
}

async function hear(): Promise<string[]> {
  const heard: string[] = [];
  const handle = async (events: readonly Event[]) => void heard.push(...events.map(({ id }) => id));
  await bus.subscribe({ consumer: 'test.reads', routes: [route({ event: Told, handle })] });
  return heard;
}

const isReady = () =>
  bus.ready().then(
    () => true,
    () => false,
  );

describe('what a stranger compresses', () => {
  it('is heard from a topic that we made, whatever compressed it', async () => {
    const heard = await hear();
    await waitUntil(isReady);
    const sent: Event[] = [];
    for (const each of [CompressionTypes.LZ4, CompressionTypes.ZSTD, CompressionTypes.GZIP])
      sent.push(await strangerSends(each));
    await waitUntil(() => heard.length === sent.length);
    expect(heard.toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
  });

  it('by zstd is heard from a topic that keeps it so', async () => {
    await makeTopic(admin, {
      topic: topicOf(kafka, Told.type),
      numPartitions: 1,
      configEntries: [{ name: 'compression.type', value: 'zstd' }],
    });
    const heard = await hear();
    await waitUntil(isReady);
    const sent = await strangerSends(CompressionTypes.ZSTD);
    await place.transaction((tx) => bus.publish(tx, [{ ...sent, id: randomUUID(), source: 'test' }]));
    await waitUntil(() => heard.length === 2);
    expect(heard).toContain(sent.id);
  });

  it('by lz4 stops the readers of a topic that keeps it so, who say why and are not ready until it is gone', async () => {
    const topic = topicOf(kafka, Told.type);
    await makeTopic(admin, {
      topic,
      numPartitions: 1,
      configEntries: [{ name: 'compression.type', value: 'producer' }],
    });
    const heard = await hear();
    await waitUntil(isReady);
    await strangerSends(CompressionTypes.LZ4);
    await waitUntil(async () => !(await isReady()));
    const sentence =
      /holds messages that somebody compressed by lz4, which we do not read.*--add-config compression\.type=uncompressed/;
    await waitUntil(() => said.some((each) => sentence.test(each)));
    await waitUntil(() =>
      admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] }).then(() => true),
    );
    const sent = await strangerSends(CompressionTypes.None);
    await waitUntil(() => heard.includes(sent.id));
    await waitUntil(isReady);
  }, 120_000);
});
