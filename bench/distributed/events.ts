import { randomBytes, randomUUID } from 'node:crypto';
import { type BusConfig, migrateBus, openBus, route } from '@call-analysis/bus';
import { type Event, eventType } from '@call-analysis/events';
import { databaseUrl, openDatabase, provision } from '@call-analysis/postgres';
import { makeTopic } from '@call-analysis/testing/servers';
import kafkajs from 'kafkajs';
import { Client } from 'pg';
import { z } from 'zod';
import { atLeast, type Figure, median, noted } from '../harness/figure.ts';
import { processorSeconds } from '../harness/processor.ts';
import { openServers, type Servers } from './servers.ts';

const PARTITIONS = 12;
/** Events published in one transaction, as for a large batch, and sent in one request by the yardstick. */
const TOGETHER = 500;
const BODY_BYTES = 1024;

const Counted = eventType('bench.counted.v1', z.object({ number: z.int(), text: z.string() }));
/** Text of words, so that it compresses as well as speech. */
const text = Array.from({ length: 200 }, (_, word) => `word${(word * 7919) % 997}`)
  .join(' ')
  .slice(0, BODY_BYTES - 28);
const firm = randomUUID();
const silent = { info() {}, warn() {}, error: (about: object, what: string) => console.error(what, about) };

interface Passage {
  readonly perSecond: number;
  /** Microseconds of processor time for each event: this process, PostgreSQL and Kafka. */
  readonly cost: Record<'client' | 'postgres' | 'kafka', number>;
}

/** Events of 1 KiB, from the first transaction that publishes some until the handler of the last returns. */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const servers = await openServers();
  const events = quick ? 10_000 : 100_000;
  const passages = { bare: [] as Passage[], kafka: [] as Passage[], embedded: [] as Passage[] };
  await bare(servers, 2_000);
  await throughBus(servers, 'kafka', 2_000);
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    passages.bare.push(await bare(servers, events));
    passages.kafka.push(await throughBus(servers, 'kafka', events));
    passages.embedded.push(await throughBus(servers, 'embedded', events));
  }
  const rate = (of: readonly Passage[]) => median(of.map(({ perSecond }) => perSecond));
  const cost = (of: readonly Passage[], part: keyof Passage['cost']) => median(of.map((each) => each.cost[part]));
  const total = (of: readonly Passage[]) =>
    median(of.map(({ cost: each }) => each.client + each.postgres + each.kafka));
  const about = 'outbox, Kafka, inbox';
  return [
    atLeast(0.5, {
      name: `${about}: ${events.toLocaleString('en')} events of 1 KiB`,
      value: rate(passages.kafka),
      unit: 'events/s',
      yardstick: { name: 'bare kafkajs', value: rate(passages.bare) },
    }),
    noted({
      name: `${about}: these events, beside one machine`,
      value: rate(passages.kafka),
      unit: 'events/s',
      yardstick: { name: 'embedded transport', value: rate(passages.embedded) },
    }),
    noted({
      name: `${about}: processor time of all`,
      value: total(passages.kafka),
      unit: 'µs/event',
      yardstick: { name: 'bare kafkajs', value: total(passages.bare) },
    }),
    noted({
      name: `${about}: of this in Node`,
      value: cost(passages.kafka, 'client'),
      unit: 'µs/event',
      yardstick: { name: 'bare kafkajs', value: cost(passages.bare, 'client') },
    }),
    noted({
      name: `${about}: of this in PostgreSQL`,
      value: cost(passages.kafka, 'postgres'),
      unit: 'µs/event',
      yardstick: { name: 'embedded transport', value: cost(passages.embedded, 'postgres') },
    }),
    noted({
      name: `${about}: of this in Kafka`,
      value: cost(passages.kafka, 'kafka'),
      unit: 'µs/event',
      yardstick: { name: 'bare kafkajs', value: cost(passages.bare, 'kafka') },
    }),
  ];
}

function makeEvents(count: number): Event[] {
  const time = new Date().toISOString();
  return Array.from({ length: count }, (_, number) => ({
    id: randomUUID(),
    source: 'bench',
    type: Counted.type,
    time,
    subject: randomUUID(),
    firmuuid: firm,
    priority: 0,
    data: { number, text },
  }));
}

/** The yardstick: the same messages, in requests of the same size, written as JSON, read, parsed and counted. */
async function bare({ kafka, postgres }: Servers, count: number): Promise<Passage> {
  const client = new kafkajs.Kafka({ brokers: kafka.brokers, clientId: 'bare', logLevel: kafkajs.logLevel.NOTHING });
  const topic = `bench-${randomBytes(6).toString('hex')}`;
  const admin = client.admin();
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
  const consumer = client.consumer({ groupId: topic });
  await Promise.all([admin.connect(), producer.connect(), consumer.connect()]);
  try {
    await makeTopic(admin, { topic, numPartitions: PARTITIONS });
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    const all = Promise.withResolvers<void>();
    let read = 0;
    await consumer.run({
      partitionsConsumedConcurrently: PARTITIONS,
      eachBatch: async ({ batch }) => {
        for (const { value } of batch.messages) if (JSON.parse(String(value)) !== null) read += 1;
        if (read >= count) all.resolve();
      },
    });
    await joined;
    const events = makeEvents(count);
    const watch = startWatch(postgres.pid, kafka.pid, count);
    for (let at = 0; at < count; at += TOGETHER) {
      const messages = events.slice(at, at + TOGETHER).map(({ data, ...attributes }) => ({
        key: attributes.subject,
        value: JSON.stringify(data),
        headers: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce_${name}`, String(value)])),
      }));
      await producer.send({ topic, acks: -1, messages });
    }
    await all.promise;
    return watch();
  } finally {
    await Promise.all([consumer.disconnect(), producer.disconnect()]);
    await admin.deleteTopics({ topics: [topic] });
    await admin.disconnect();
  }
}

async function throughBus(servers: Servers, transport: BusConfig['transport'], count: number): Promise<Passage> {
  const { kafka, postgres } = servers;
  const database = `bench_${randomBytes(6).toString('hex')}`;
  const role = (schema: string) => ({ schema, role: `${database}_${schema}`, password: 'for-the-bench' });
  const urls = await provision({
    adminUrl: postgres.adminUrl,
    database,
    schemas: [role('bus'), role('service')],
    members: [{ role: role('service').role, of: role('bus').role }],
  });
  const url = urls['bus']!;
  await migrateBus({ url, schema: 'bus' });
  const topics = { create: true, partitions: PARTITIONS, replication: 1, retentionMs: 3_600_000 };
  const config: BusConfig =
    transport === 'kafka'
      ? { transport, url, schema: 'bus', kafka: { brokers: kafka.brokers, prefix: `${database}.`, topics } }
      : { transport, url, schema: 'bus' };
  const service = openDatabase({ url: urls['service']!, schema: 'service' });
  const bus = await openBus(config, { name: 'bench', log: silent });
  try {
    let handled = 0;
    const [first, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const handle = async (some: readonly unknown[]) => {
      handled += some.length;
      first.resolve();
      if (handled >= count + 1) all.resolve();
    };
    await bus.subscribe({
      consumer: 'bench',
      batchSize: 250,
      concurrency: 2,
      routes: [route({ event: Counted, handle })],
    });
    // The first event creates topics and groups.
    await service.transaction((tx) => bus.publish(tx, makeEvents(1)));
    await first.promise;
    const events = makeEvents(count);
    const watch = startWatch(postgres.pid, kafka.pid, count);
    for (let at = 0; at < count; at += TOGETHER) {
      await service.transaction((tx) => bus.publish(tx, events.slice(at, at + TOGETHER)));
    }
    await all.promise;
    return watch();
  } finally {
    await bus.close();
    await service.close();
    await drop(postgres.adminUrl, database, [role('bus').role, role('service').role]);
  }
}

async function drop(adminUrl: string, database: string, roles: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl(adminUrl, 'postgres') });
  await client.connect();
  try {
    await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
    for (const role of roles) await client.query(`DROP ROLE ${role}`);
  } finally {
    await client.end();
  }
}

/** Starts a measurement. The returned function ends it and returns the result. */
function startWatch(postgres: number | null, kafka: number | null, events: number): () => Passage {
  const seconds = () => ({
    client: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
    postgres: postgres === null ? Number.NaN : processorSeconds(postgres),
    kafka: kafka === null ? Number.NaN : processorSeconds(kafka),
  });
  const [began, before] = [performance.now(), seconds()];
  return () => {
    const [elapsed, after] = [performance.now() - began, seconds()];
    const cost = (part: keyof typeof before) => ((after[part] - before[part]) * 1e6) / events;
    return {
      perSecond: events / (elapsed / 1000),
      cost: { client: cost('client'), postgres: cost('postgres'), kafka: cost('kafka') },
    };
  };
}
