import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Event, eventType } from '@call-analysis/events';
import { openTcpProxy, type TcpProxy, waitUntil } from '@call-analysis/testing';
import { type KafkaServer, startKafka } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { openBus, openListener } from '../open.ts';
import { type AnyRoute, type Bus, route } from '../port.ts';
import { testKafka, type KafkaUnderTest, openKafkaTransport } from '../test/kafka.ts';
import { newEvent } from '../test/new-event.ts';
import { connect } from './connection/client.ts';
import { topicOf } from './topics/topics.ts';

const silent = { info() {}, warn() {}, error() {} };

// Brokers are restarted again and again, which is slow on a busy machine.
jest.setTimeout(300_000);
const patience = { timeoutMs: 120_000 };

describe('the Kafka transport in outages', () => {
  let server: KafkaServer;
  let transport: KafkaUnderTest;
  let bus: Bus;
  let count = 0;

  beforeAll(async () => {
    server = await startKafka();
    transport = await openKafkaTransport(testKafka({ brokers: server.brokers, partitions: 3 }));
    bus = await openBus(transport.config, { name: 'test', log: silent });
  });

  afterAll(async () => {
    await bus?.close();
    await transport?.close();
    await server?.stop();
  });

  const publish = (events: readonly Event[], by = bus) => transport.transaction((tx) => by.publish(tx, events));
  const ready = (one: Pick<Bus, 'ready'>) => waitUntil(() => one.ready().then(() => true), patience);
  const outbox = async () => (await bus.depths()).find(({ consumer }) => consumer === 'outbox');

  function newConsumer(): { type: string; consumer: string; received: number[]; routes: AnyRoute[] } {
    count += 1;
    const Happened = eventType(`test.happened-${count}.v1`, z.object({ n: z.int() }));
    const received: number[] = [];
    const handle = async (events: readonly Event<{ n: number }>[]) => {
      received.push(...events.map(({ data }) => data.n));
    };
    return {
      type: Happened.type,
      consumer: `test.consumer-${count}`,
      received,
      routes: [route({ event: Happened, handle })],
    };
  }

  it('opened without Kafka, it accepts events, reports that Kafka does not respond, and delivers the events afterwards', async () => {
    const { type, consumer, received, routes } = newConsumer();
    await server.kill();
    const began = Date.now();
    const late = await openBus(transport.config, { name: 'late', log: silent });
    await late.subscribe({ consumer, batchSize: 10, routes });
    await late.listen(eventType(type, z.unknown()), () => {});
    await publish(
      numbers(30).map((n) => newEvent({ type }, n)),
      late,
    );
    // Nothing has waited for Kafka, nor for a timeout.
    expect(Date.now() - began).toBeLessThan(10_000);
    await expect(late.ready()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('Kafka'),
    });
    await pause(1_100);
    expect(await outbox()).toMatchObject({ waiting: 30, dead: 0 });
    expect((await outbox())?.oldestSeconds).toBeGreaterThan(1);
    const closing = Date.now();
    const third = await openBus(transport.config, { name: 'third', log: silent });
    await third.subscribe({ consumer, routes });
    await third.close();
    // Twice the longest expected time, and less than a request to a broker waits.
    expect(Date.now() - closing).toBeLessThan(20_000);
    await server.restart();
    await waitUntil(() => received.length === 30, patience);
    await ready(late);
    await waitUntil(async () => (await outbox())?.waiting === 0, patience);
    expect(await outbox()).toMatchObject({ waiting: 0, oldestSeconds: null });
    expect(received.toSorted((a, b) => a - b)).toEqual(numbers(30));
    await late.close();
  });

  it('a listener needs no database, and reports whether it is connected', async () => {
    const { type } = newConsumer();
    const received: Event[] = [];
    const listener = await openListener(
      { transport: 'kafka', kafka: transport.config.kafka },
      { name: 'gateway', log: silent },
    );
    await listener.listen(eventType(type, z.unknown()), (event) => received.push(event));
    await expect(listener.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    await ready(listener);
    // Repeated, because a listener misses events while it is not connected.
    const published: Event[] = [];
    await waitUntil(async () => {
      published.push(newEvent({ type }, 1));
      await publish(published.slice(-1));
      return waitUntil(() => received.length > 0, { timeoutMs: 15_000 });
    }, patience);
    expect(published).toEqual(expect.arrayContaining(received));
    received.length = 0;
    await server.kill();
    await waitUntil(() =>
      listener.ready().then(
        () => false,
        () => true,
      ),
    );
    await server.restart();
    await ready(listener);
    await waitUntil(async () => {
      await publish([newEvent({ type }, 2)]);
      return received.length > 0;
    }, patience);
    await listener.close();
  });

  it('when the broker dies under load, no event is lost and all are delivered once it is back', async () => {
    const { type, consumer, received, routes } = newConsumer();
    await bus.subscribe({ consumer, batchSize: 50, routes });
    await ready(bus);
    let published = 0;
    const over = new AbortController();
    const load = (async () => {
      while (!over.signal.aborted) {
        await publish(Array.from({ length: 20 }, () => newEvent({ type }, published++)));
        await pause(20);
      }
    })();
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await pause(1_500);
      await server.kill(signal);
      await pause(1_000);
      await server.restart();
    }
    await pause(1_000);
    over.abort();
    await load;
    await waitUntil(() => new Set(received).size === published, patience);
    await waitUntil(async () => (await outbox())?.waiting === 0, patience);
    await ready(bus);
  });

  it('a link that drops everything is noticed, and events flow again soon after it recovers', async () => {
    const { type, consumer, received, routes } = newConsumer();
    let gate: TcpProxy | undefined;
    const far = await startKafka({
      async advertise(address) {
        gate ??= await openTcpProxy({ port: Number(address.split(':')[1]) });
        return `127.0.0.1:${gate.port}`;
      },
    });
    const unreachable = await openKafkaTransport(testKafka({ brokers: [`127.0.0.1:${gate!.port}`] }));
    const one = await openBus(unreachable.config, { name: 'unreachable', log: silent });
    await one.subscribe({ consumer, batchSize: 10, routes });
    await ready(one);
    const publishOne = (n: number) => unreachable.transaction((tx) => one.publish(tx, [newEvent({ type }, n)]));
    await publishOne(0);
    await waitUntil(() => received.length === 1);
    gate!.blackhole();
    const began = Date.now();
    await publishOne(1);
    await pause(1_100);
    await expect(one.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    // Less than a request to a broker waits by itself.
    expect(Date.now() - began).toBeLessThan(25_000);
    // Longer than any connection is kept without an answer.
    await pause(35_000);
    await publishOne(2);
    gate!.heal();
    await waitUntil(() => new Set(received).size === 3, patience);
    await ready(one);
    await one.close();
    await unreachable.close();
    await gate!.close();
    await far.stop();
  });

  it('during an outage of the database, a reader stays in its group, and continues afterwards', async () => {
    const { received, joins } = await withoutPause(async () => {
      const { type, consumer, received: numbersReceived, routes } = newConsumer();
      const url = new URL(transport.config.url);
      const gate = await openTcpProxy({ port: Number(url.port) });
      url.port = String(gate.port);
      const log = logOfJoins();
      const behind = await openBus({ ...transport.config, url: url.href }, { name: 'behind', log });
      await behind.subscribe({ consumer, batchSize: 10, routes });
      await ready(behind);
      await publish([newEvent({ type }, 0)]);
      await waitUntil(() => numbersReceived.length === 1);
      gate.cut();
      await publish(numbers(20).map((n) => newEvent({ type }, n + 1)));
      // Longer than the session timeout.
      await pause(13_000);
      expect(numbersReceived).toHaveLength(1);
      gate.heal();
      await waitUntil(() => numbersReceived.length >= 21, patience);
      await pause(500);
      await behind.close();
      await gate.close();
      return { received: numbersReceived, joins: log.joins };
    });
    expect(received.toSorted((a, b) => a - b)).toEqual(numbers(21));
    expect(joins).toBe(1);
  });

  it('a handler that runs for longer than the session timeout causes no rebalance and no second delivery', async () => {
    const outcome = await withoutPause(async () => {
      const { type, consumer } = newConsumer();
      const Slow = eventType(type, z.object({ n: z.int() }));
      const log = logOfJoins();
      let begun = 0;
      let done = 0;
      const patient = await openBus(transport.config, { name: 'patient', log });
      await patient.subscribe({
        consumer,
        concurrency: 2,
        routes: [
          route({
            event: Slow,
            async handle([event]) {
              begun += 1;
              if (event?.data.n === 0) await pause(20_000);
              done += 1;
            },
          }),
        ],
      });
      await ready(patient);
      await publish([newEvent(Slow, 0)]);
      await waitUntil(() => begun === 1);
      // Other events are handled meanwhile.
      await publish([newEvent(Slow, 1)]);
      await waitUntil(() => done === 1);
      await waitUntil(() => done === 2);
      await pause(1_000);
      await patient.close();
      return { begun, joins: log.joins };
    });
    expect(outcome).toEqual({ begun: 2, joins: 1 });
  });

  it('a message that is no event becomes a dead letter and holds up no event', async () => {
    const { type, consumer, received, routes } = newConsumer();
    await bus.subscribe({ consumer, routes });
    await ready(bus);
    const { kafka } = transport.config;
    const producer = connect(kafka, { name: 'other', log: silent }).producer();
    await producer.connect();
    const headers = { ce_specversion: '1.0', ce_id: randomUUID(), ce_type: type };
    const misfits = [
      { value: 'no event' },
      { value: '{"n":', headers },
      { value: null, headers },
      { key: '\u0000', value: Buffer.from([0, 255]), headers: { odd: Buffer.from([0, 254]) } },
    ];
    await producer.send({ topic: topicOf(kafka, type), messages: misfits.map((each) => ({ ...each, partition: 0 })) });
    await publish(numbers(9).map((n) => newEvent({ type }, n)));
    await waitUntil(() => received.length === 9);
    await waitUntil(
      async () => (await bus.depths()).find((each) => each.consumer === consumer)?.dead === misfits.length,
    );
    await producer.disconnect();
  });

  it('an event that the database refuses becomes a dead letter, and the others are handled', async () => {
    const { type, consumer, received, routes } = newConsumer();
    await bus.subscribe({ consumer, batchSize: 10, routes });
    const odd = newEvent({ type }, 1, { source: 'nul \u0000' });
    await publish([newEvent({ type }, 0), odd, newEvent({ type }, 2)]);
    await waitUntil(() => received.length === 2);
    expect(received.toSorted()).toEqual([0, 2]);
    await waitUntil(async () => (await bus.depths()).find((each) => each.consumer === consumer)?.dead === 1);
  });
});

function logOfJoins() {
  const log = {
    ...silent,
    joins: 0,
    info(_fields: object, message: string) {
      if (/Joined/.test(message)) log.joins += 1;
    },
  };
  return log;
}

/** Repeats an attempt in which the machine paused for so long that the group rebalanced. */
async function withoutPause<Outcome extends { readonly joins: number }>(
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await attempt();
    if (outcome.joins === 1 || attempts === 3) return outcome;
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
