import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Event, eventType } from '@call-analysis/events';
import { openDatabase } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { makeTopic } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openBus } from '../../open.ts';
import { type Bus, route } from '../../port.ts';
import { testKafka, type KafkaUnderTest, openKafkaTransport } from '../../test/kafka.ts';
import { newEvent } from '../../test/new-event.ts';
import { connect } from '../connection/client.ts';
import { headerOf } from '../message.ts';
import { topicOf } from '../topics/topic.ts';
import { outboxDepth, putIntoOutbox } from './outbox.ts';

const silent = { info() {}, warn() {}, error() {} };
const kafka = testKafka({ partitions: 3 });
const Counted = eventType('test.counted.v1', z.object({ n: z.int() }));

describe('the relay', () => {
  let transport: KafkaUnderTest;

  beforeAll(async () => {
    transport = await openKafkaTransport(kafka);
  });

  afterAll(async () => {
    await transport?.close();
  });

  const put = (events: readonly Event[]) =>
    transport.transaction((tx) =>
      putIntoOutbox(
        tx,
        'bus',
        events.map((event) => ({ event })),
        { overflow: true },
      ),
    );
  const waiting = () =>
    transport
      .transaction((tx) => outboxDepth({ schema: 'bus', query: (text, values) => tx.query(text, values) }))
      .then((depth) => depth.waiting);

  it('loses no event and keeps the order within a subject, whenever it is killed', async () => {
    const subjects = Array.from({ length: 40 }, () => randomUUID());
    const counts = new Map(subjects.map((subject) => [subject, 0]));
    const over = new AbortController();
    const load = (async () => {
      for (let i = 0; !over.signal.aborted; i++) {
        const events = Array.from({ length: 1 + ((i * 7) % 60) }, (_, k) => {
          const subject = subjects[(i * 13 + k) % subjects.length]!;
          const n = counts.get(subject)!;
          counts.set(subject, n + 1);
          return newEvent(Counted, n, { subject });
        });
        await put(events);
        await pause(20);
      }
    })();
    for (let kills = 0; kills < 8; kills++) {
      const worker = await startRelayProcess(transport.config);
      // At any time from before its first message to the middle of many.
      await pause(kills * 150 + Math.random() * 300);
      await worker.kill('SIGKILL');
    }
    over.abort();
    await load;
    const last = await startRelayProcess(transport.config);
    await waitUntil(async () => (await waiting()) === 0, { timeoutMs: 100_000 });
    await last.kill('SIGTERM');
    const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
    const sent = await everySent(topicOf(kafka, Counted.type), (all) => withoutRepeats(all).length >= total);
    expect(withoutRepeats(sent)).toHaveLength(total);
    for (const [subject, count] of counts) {
      const numbers = withoutRepeats(sent.filter((each) => each.subject === subject)).map(({ n }) => n);
      expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n));
    }
  }, 300_000);

  it('runs in one process of a service at a time, and another takes over immediately when that closes', async () => {
    const opened: Bus[] = [];
    const received: number[] = [];
    const Passed = eventType('test.passed.v1', z.object({ n: z.int() }));
    const owner = openDatabase({ url: transport.config.url, schema: 'bus' });
    const locks = `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE datname = current_database() AND locktype = 'advisory' AND objsubid = 2 AND granted`;
    const holders = async () => (await owner.query<{ pid: number }>(locks)).map(({ pid }) => pid);
    const holds = async () => (await holders()).length;
    for (const name of ['one', 'two', 'three']) {
      opened.push(await openBus(transport.config, { name, log: silent }));
      await waitUntil(async () => (await holds()) === 1);
    }
    await opened[2]!.subscribe({
      consumer: 'taken-over',
      batchSize: 100,
      routes: [
        route({
          event: Passed,
          async handle(events) {
            received.push(...events.map((event) => event.data.n));
          },
        }),
      ],
    });
    await waitUntil(() => opened[2]!.ready().then(() => true));
    let n = 0;
    const publishNext = () => put([newEvent(Passed, n++)]);
    await publishNext();
    await waitUntil(() => received.length === 1);
    const [first] = await holders();
    await opened[0]!.close();
    // Nobody waits until the database notices that a process has vanished.
    expect(await holders()).not.toContain(first);
    await publishNext();
    await waitUntil(() => received.length === 2);
    expect(await holds()).toBe(1);
    await opened[1]!.close();
    await publishNext();
    await waitUntil(() => received.length === 3);
    expect(await holds()).toBe(1);
    await opened[2]!.close();
    await owner.close();
    expect(received).toEqual([0, 1, 2]);
  });

  it('suspends a topic that Kafka refuses, sends the others, and is not ready until then', async () => {
    const bare = { ...kafka, prefix: `${kafka.prefix}bare.` };
    const admin = connect(kafka, { name: 'test', log: silent }).admin();
    await admin.connect();
    await makeTopic(admin, { topic: topicOf(bare, 'test.known.v1') });
    const errors: unknown[] = [];
    const bus = await openBus(
      { ...transport.config, kafka: { ...bare, topics: { ...bare.topics, create: false } } },
      { name: 'test', log: { ...silent, error: (fields) => errors.push(fields) } },
    );
    const known = newEvent({ type: 'test.known.v1' }, 2);
    await put([newEvent({ type: 'test.unknown.v1' }, 1)]);
    await put([known]);
    await waitUntil(async () => (await waiting()) === 1);
    const sent = await everySent(topicOf(bare, 'test.known.v1'), (all) => all.length === 1);
    expect(sent).toMatchObject([{ id: known.id }]);
    expect(errors).toEqual([expect.objectContaining({ topic: 'test.unknown.v1' })]);
    await expect(bus.ready()).rejects.toMatchObject({
      kind: 'unavailable',
      cause: { message: expect.stringContaining('test.unknown.v1') },
    });
    await bus.close();
    await admin.disconnect();
    await transport.transaction((tx) => tx.query('DELETE FROM bus.outbox'));
  });
});

interface Sent {
  readonly id: string | undefined;
  readonly subject: string | undefined;
  readonly n: number;
}

/** Each event once, at its first position. */
function withoutRepeats(sent: readonly Sent[]): Sent[] {
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

/** Starts another process that relays. Resolves when it has the lock. */
async function startRelayProcess(config: object): Promise<{ kill(signal: NodeJS.Signals): Promise<void> }> {
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
