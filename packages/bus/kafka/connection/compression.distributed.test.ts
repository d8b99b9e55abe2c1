import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { newTraceparent } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { makeTopic } from '@call-analysis/testing/servers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs, { type Admin, CompressionTypes, type Producer } from 'kafkajs';
import { z } from 'zod';
import type { Kafka } from '../../config.ts';
import type { TransportUnderTest } from '../../contract/index.ts';
import { openBus } from '../../open.ts';
import { type Bus, route } from '../../port.ts';
import { testKafka, openKafkaTransport } from '../../test/kafka.ts';
import { toMessage } from '../message.ts';
import { topicOf } from '../topics/topic.ts';
import { connect } from './client.ts';

const Compressed = eventType('test.pressed.v1', z.object({ greeting: z.string() }));
const silent = { info() {}, warn() {}, error() {} };

const logged: string[] = [];
const logMessage = (_fields: object, message?: string) => void logged.push(message ?? '');
const logError = (fields: { err?: Error }, message?: string) =>
  void logged.push(fields.err?.message ?? '', message ?? '');
const log = { info: logMessage, warn: logError, error: logError };

let kafka: Kafka;
let transport: TransportUnderTest;
let bus: Bus;
let admin: Admin;
let otherProducer: Producer;

beforeEach(async () => {
  kafka = testKafka();
  logged.length = 0;
  const client = connect(kafka, { name: 'test', log: silent });
  [admin, otherProducer] = [client.admin(), client.producer()];
  [transport] = await Promise.all([openKafkaTransport(kafka), admin.connect(), otherProducer.connect()]);
  bus = await openBus(transport.config, { name: 'test', log });
});
afterEach(async () => {
  await bus?.close();
  await Promise.all([transport?.close(), admin?.disconnect(), otherProducer?.disconnect()]);
});

// An LZ4 frame may contain uncompressed blocks, so this test needs no LZ4 library.
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

/** Sends as another producer. Afterwards the client's own LZ4 codec is back, which cannot read LZ4. */
async function sendAsOther(compression: CompressionTypes): Promise<Event> {
  const event: Event = {
    id: randomUUID(),
    source: 'partner',
    type: Compressed.type,
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
    await otherProducer.send({ topic: topicOf(kafka, Compressed.type), messages: [toMessage(event)], compression });
  } finally {
    kafkajs.CompressionCodecs[CompressionTypes.LZ4] = before;
  }
  return event;
}

async function subscribe(): Promise<string[]> {
  const received: string[] = [];
  const handle = async (events: readonly Event[]) => void received.push(...events.map(({ id }) => id));
  await bus.subscribe({ consumer: 'test.reads', routes: [route({ event: Compressed, handle })] });
  return received;
}

const isReady = () =>
  bus.ready().then(
    () => true,
    () => false,
  );

describe('messages that another producer compresses', () => {
  it('are received from a topic that the bus created, in any compression', async () => {
    const received = await subscribe();
    await waitUntil(isReady);
    const sent: Event[] = [];
    for (const each of [CompressionTypes.LZ4, CompressionTypes.ZSTD, CompressionTypes.GZIP])
      sent.push(await sendAsOther(each));
    await waitUntil(() => received.length === sent.length);
    expect(received.toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
  });

  it('by zstd are received from a topic that keeps the compression', async () => {
    await makeTopic(admin, {
      topic: topicOf(kafka, Compressed.type),
      numPartitions: 1,
      configEntries: [{ name: 'compression.type', value: 'zstd' }],
    });
    const received = await subscribe();
    await waitUntil(isReady);
    const sent = await sendAsOther(CompressionTypes.ZSTD);
    await transport.transaction((tx) => bus.publish(tx, [{ ...sent, id: randomUUID(), source: 'test' }]));
    await waitUntil(() => received.length === 2);
    expect(received).toContain(sent.id);
  });

  it('by lz4 block the readers of a topic that keeps the compression; they log why and are not ready until it is removed', async () => {
    const topic = topicOf(kafka, Compressed.type);
    await makeTopic(admin, {
      topic,
      numPartitions: 1,
      configEntries: [{ name: 'compression.type', value: 'producer' }],
    });
    const received = await subscribe();
    await waitUntil(isReady);
    await sendAsOther(CompressionTypes.LZ4);
    await waitUntil(async () => !(await isReady()));
    const sentence =
      /holds messages compressed by lz4, which this service cannot read.*--add-config compression\.type=zstd/;
    await waitUntil(() => logged.some((each) => sentence.test(each)));
    await waitUntil(() =>
      admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] }).then(() => true),
    );
    const sent = await sendAsOther(CompressionTypes.None);
    await waitUntil(() => received.includes(sent.id));
    await waitUntil(isReady);
  }, 120_000);
});
