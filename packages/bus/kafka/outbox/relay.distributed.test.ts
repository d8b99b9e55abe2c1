import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Event, eventType } from '@call-analysis/events';
import { openDatabase } from '@call-analysis/postgres';
import { makeTopic, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openBus } from '../../open.ts';
import { type Bus, route } from '../../port.ts';
import { happened } from '../../test/events.ts';
import { connect } from '../connection/client.ts';
import { kafkaOf, type KafkaPlaceUnderTest, openKafkaPlace } from '../../test/kafka.ts';
import { headerOf } from '../message.ts';
import { outboxDepth, putIntoOutbox } from './outbox.ts';
import { topicOf } from '../topics/topics.ts';

const silent = { info() {}, warn() {}, error() {} };
const kafka = kafkaOf({ partitions: 3 });
const Counted = eventType('test.counted.v1', z.object({ n: z.int() }));

describe('the relay', () => {
  let place: KafkaPlaceUnderTest;

  beforeAll(async () => {
    place = await openKafkaPlace(kafka);
  });

  afterAll(async () => {
    await place?.close();
  });

  const put = (events: readonly Event[]) =>
    place.transaction((tx) =>
      putIntoOutbox(
        tx,
        'bus',
        events.map((event) => ({ event })),
        { overflow: true },
      ),
    );
  const waiting = () =>
    place
      .transaction((tx) => outboxDepth({ schema: 'bus', query: (text, values) => tx.query(text, values) }))
      .then((depth) => depth.waiting);

  it('loses nothing and keeps the order within a subject, whenever it is killed', async () => {
    const subjects = Array.from({ length: 40 }, () => randomUUID());
    const told = new Map(subjects.map((subject) => [subject, 0]));
    const over = new AbortController();
    const load = (async () => {
      for (let i = 0; !over.signal.aborted; i++) {
        const events = Array.from({ length: 1 + ((i * 7) % 60) }, (_, k) => {
          const subject = subjects[(i * 13 + k) % subjects.length]!;
          const n = told.get(subject)!;
          told.set(subject, n + 1);
          return happened(Counted, n, { subject });
        });
        await put(events);
        await pause(20);
      }
    })();
    for (let kills = 0; kills < 8; kills++) {
      const worker = await relayWorker(place.config);
      // From before its first message to in the midst of many.
      await pause(kills * 150 + Math.random() * 300);
      await worker.kill('SIGKILL');
    }
    over.abort();
    await load;
    const last = await relayWorker(place.config);
    await waitUntil(async () => (await waiting()) === 0, { timeoutMs: 100_000 });
    await last.kill('SIGTERM');
    const total = [...told.values()].reduce((sum, n) => sum + n, 0);
    const sent = await everySent(topicOf(kafka, Counted.type), (all) => firsts(all).length >= total);
    expect(firsts(sent)).toHaveLength(total);
    for (const [subject, count] of told) {
      const numbers = firsts(sent.filter((each) => each.subject === subject)).map(({ n }) => n);
      expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n));
    }
  }, 300_000);

  it('runs in one process of a service at a time, and the next one takes over at once when it leaves', async () => {
    const opened: Bus[] = [];
    const heard: number[] = [];
    const Passed = eventType('test.passed.v1', z.object({ n: z.int() }));
    const owner = openDatabase({ url: place.config.url, schema: 'bus' });
    const locks = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE datname = current_database() AND locktype = 'advisory' AND objsubid = 2 AND granted`;
    const holders = async () => (await owner.query(locks)).length;
    for (const name of ['one', 'two', 'three']) {
      opened.push(await openBus(place.config, { name, log: silent }));
      await waitUntil(async () => (await holders()) === 1);
    }
    await opened[2]!.subscribe({
      consumer: 'taken-over',
      batchSize: 100,
      routes: [
        route({
          event: Passed,
          async handle(events) {
            heard.push(...events.map((event) => event.data.n));
          },
        }),
      ],
    });
    await waitUntil(() => opened[2]!.ready().then(() => true));
    let n = 0;
    const tell = () => put([happened(Passed, n++)]);
    await tell();
    await waitUntil(() => heard.length === 1);
    await opened[0]!.close();
    const left = Date.now();
    await tell();
    await waitUntil(() => heard.length === 2);
    // A process that vanished would be missed by the database after twenty-five seconds.
    expect(Date.now() - left).toBeLessThan(15_000);
    expect(await holders()).toBe(1);
    await opened[1]!.close();
    await tell();
    await waitUntil(() => heard.length === 3);
    expect(await holders()).toBe(1);
    await opened[2]!.close();
    await owner.close();
    expect(heard).toEqual([0, 1, 2]);
  });

  it('lets a fact that Kafka takes no topic for stand aside, sends the others, and is not all there meanwhile', async () => {
    const bare = { ...kafka, prefix: `${kafka.prefix}bare.` };
    const admin = connect(kafka, { name: 'test', log: silent }).admin();
    await admin.connect();
    await makeTopic(admin, { topic: topicOf(bare, 'test.known.v1') });
    const complaints: unknown[] = [];
    const bus = await openBus(
      { ...place.config, kafka: { ...bare, topics: { ...bare.topics, create: false } } },
      { name: 'test', log: { ...silent, error: (fields) => complaints.push(fields) } },
    );
    const known = happened({ type: 'test.known.v1' }, 2);
    await put([happened({ type: 'test.unknown.v1' }, 1)]);
    await put([known]);
    await waitUntil(async () => (await waiting()) === 1);
    const sent = await everySent(topicOf(bare, 'test.known.v1'), (all) => all.length === 1);
    expect(sent).toMatchObject([{ id: known.id }]);
    expect(complaints).toEqual([expect.objectContaining({ topic: 'test.unknown.v1' })]);
    await expect(bus.ready()).rejects.toMatchObject({
      kind: 'unavailable',
      cause: { message: expect.stringContaining('test.unknown.v1') },
    });
    await bus.close();
    await admin.disconnect();
    await place.transaction((tx) => tx.query('DELETE FROM bus.outbox'));
  });
});

interface Sent {
  readonly id: string | undefined;
  readonly subject: string | undefined;
  readonly n: number;
}

/** The first of each event; what was sent again comes later. */
function firsts(sent: readonly Sent[]): Sent[] {
  const seen = new Map<string | undefined, Sent>();
  for (const each of sent) if (!seen.has(each.id)) seen.set(each.id, each);
  return [...seen.values()];
}

async function everySent(topic: string, enough: (sent: readonly Sent[]) => boolean): Promise<Sent[]> {
  const consumer = connect(kafka, { name: 'test', log: silent }).consumer({
    groupId: `${kafka.prefix}${randomUUID()}`,
  });
  const sent: Sent[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    async eachMessage({ message }) {
      const { n } = JSON.parse(String(message.value)) as { n: number };
      sent.push({ id: headerOf(message, 'ce_id'), subject: headerOf(message, 'ce_subject'), n });
    },
  });
  await waitUntil(() => enough(sent), { timeoutMs: 100_000 });
  await consumer.disconnect();
  return sent;
}

/** Resolves when it has begun to relay. */
async function relayWorker(config: object): Promise<{ kill(signal: NodeJS.Signals): Promise<void> }> {
  const program = fileURLToPath(new URL('../../test/relay-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(config)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(createInterface({ input: child.stdout }), 'line');
  return {
    async kill(signal) {
      child.kill(signal);
      await exited;
    },
  };
}
