import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Event, eventType } from '@call-analysis/events';
import { type KafkaServer, openGate, startKafka, type TcpGate, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { openBus, openListener } from '../open.ts';
import { type AnyRoute, type Bus, route } from '../port.ts';
import { happened } from '../test/events.ts';
import { connect } from './connection/client.ts';
import { kafkaOf, type KafkaPlaceUnderTest, openKafkaPlace } from '../test/kafka.ts';
import { topicOf } from './topics/topics.ts';

const silent = { info() {}, warn() {}, error() {} };

// Brokers are started again and again, which is slow where much else is.
jest.setTimeout(300_000);
const patience = { timeoutMs: 120_000 };

describe('the Kafka transport in an outage', () => {
  let server: KafkaServer;
  let place: KafkaPlaceUnderTest;
  let bus: Bus;
  let count = 0;

  beforeAll(async () => {
    server = await startKafka();
    place = await openKafkaPlace(kafkaOf({ brokers: server.brokers, partitions: 3 }));
    bus = await openBus(place.config, { name: 'test', log: silent });
  });

  afterAll(async () => {
    await bus?.close();
    await place?.close();
    await server?.stop();
  });

  const publish = (events: readonly Event[], by = bus) => place.transaction((tx) => by.publish(tx, events));
  const ready = (one: Pick<Bus, 'ready'>) => waitUntil(() => one.ready().then(() => true), patience);
  const outbox = async () => (await bus.depths()).find(({ consumer }) => consumer === 'outbox');

  function newcomers(): { type: string; consumer: string; heard: number[]; routes: AnyRoute[] } {
    count += 1;
    const Happened = eventType(`test.happened-${count}.v1`, z.object({ n: z.int() }));
    const heard: number[] = [];
    const handle = async (events: readonly Event<{ n: number }>[]) => {
      heard.push(...events.map(({ data }) => data.n));
    };
    return {
      type: Happened.type,
      consumer: `test.consumer-${count}`,
      heard,
      routes: [route({ event: Happened, handle })],
    };
  }

  it('that lasts while it opens takes facts all the same, says that Kafka is away, and delivers them afterwards', async () => {
    const { type, consumer, heard, routes } = newcomers();
    await server.kill();
    const began = Date.now();
    const late = await openBus(place.config, { name: 'late', log: silent });
    await late.subscribe({ consumer, batchSize: 10, routes });
    await late.listen(eventType(type, z.unknown()), () => {});
    await publish(
      numbers(30).map((n) => happened({ type }, n)),
      late,
    );
    // Kafka is not there all the while, so nobody has waited for it; nor for his patience with it to end.
    expect(Date.now() - began).toBeLessThan(10_000);
    await expect(late.ready()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('Kafka'),
    });
    await pause(1_100);
    expect(await outbox()).toMatchObject({ waiting: 30, dead: 0 });
    expect((await outbox())?.oldestSeconds).toBeGreaterThan(1);
    const closing = Date.now();
    const third = await openBus(place.config, { name: 'third', log: silent });
    await third.subscribe({ consumer, routes });
    await third.close();
    // Twice as long as it may take, and less than requests to a broker wait.
    expect(Date.now() - closing).toBeLessThan(20_000);
    await server.restart();
    await waitUntil(() => heard.length === 30, patience);
    await ready(late);
    await waitUntil(async () => (await outbox())?.waiting === 0, patience);
    expect(await outbox()).toMatchObject({ waiting: 0, oldestSeconds: null });
    expect(heard.toSorted((a, b) => a - b)).toEqual(numbers(30));
    await late.close();
  });

  it('a listener needs no database, and says whether it hears', async () => {
    const { type } = newcomers();
    const heard: Event[] = [];
    const listener = await openListener(
      { transport: 'kafka', kafka: place.config.kafka },
      { name: 'gateway', log: silent },
    );
    await listener.listen(eventType(type, z.unknown()), (event) => heard.push(event));
    await expect(listener.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    await ready(listener);
    // Again where it was out of touch for a moment.
    const told: Event[] = [];
    await waitUntil(async () => {
      told.push(happened({ type }, 1));
      await publish(told.slice(-1));
      return waitUntil(() => heard.length > 0, { timeoutMs: 15_000 });
    }, patience);
    expect(told).toEqual(expect.arrayContaining(heard));
    heard.length = 0;
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
      await publish([happened({ type }, 2)]);
      return heard.length > 0;
    }, patience);
    await listener.close();
  });

  it('of the broker under load loses nothing, and delivers all once it is back', async () => {
    const { type, consumer, heard, routes } = newcomers();
    await bus.subscribe({ consumer, batchSize: 50, routes });
    await ready(bus);
    let told = 0;
    const over = new AbortController();
    const load = (async () => {
      while (!over.signal.aborted) {
        await publish(Array.from({ length: 20 }, () => happened({ type }, told++)));
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
    await waitUntil(() => new Set(heard).size === told, patience);
    await waitUntil(async () => (await outbox())?.waiting === 0, patience);
    await ready(bus);
  });

  it('of a link that swallows everything is noticed, and over soon after the link', async () => {
    const { type, consumer, heard, routes } = newcomers();
    let gate: TcpGate | undefined;
    const far = await startKafka({
      async advertise(address) {
        gate ??= await openGate({ port: Number(address.split(':')[1]) });
        return `127.0.0.1:${gate.port}`;
      },
    });
    const dark = await openKafkaPlace(kafkaOf({ brokers: [`127.0.0.1:${gate!.port}`] }));
    const one = await openBus(dark.config, { name: 'dark', log: silent });
    await one.subscribe({ consumer, batchSize: 10, routes });
    await ready(one);
    const tell = (n: number) => dark.transaction((tx) => one.publish(tx, [happened({ type }, n)]));
    await tell(0);
    await waitUntil(() => heard.length === 1);
    gate!.blackhole();
    const began = Date.now();
    await tell(1);
    await pause(1_100);
    await expect(one.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    // Less than a request to a broker waits by itself.
    expect(Date.now() - began).toBeLessThan(25_000);
    // Long enough for everybody to give up on the connections there were.
    await pause(35_000);
    await tell(2);
    gate!.heal();
    await waitUntil(() => new Set(heard).size === 3, patience);
    await ready(one);
    await one.close();
    await dark.close();
    await gate!.close();
    await far.stop();
  });

  it('of the database while it reads keeps its place in the group, and reads on', async () => {
    const { heard, joins } = await unlessMissed(async () => {
      const { type, consumer, heard: numbersHeard, routes } = newcomers();
      const url = new URL(place.config.url);
      const gate = await openGate({ port: Number(url.port) });
      url.port = String(gate.port);
      const log = logOfJoins();
      const behind = await openBus({ ...place.config, url: url.href }, { name: 'behind', log });
      await behind.subscribe({ consumer, batchSize: 10, routes });
      await ready(behind);
      await publish([happened({ type }, 0)]);
      await waitUntil(() => numbersHeard.length === 1);
      gate.cut();
      await publish(numbers(20).map((n) => happened({ type }, n + 1)));
      // Longer than a member may be silent.
      await pause(13_000);
      expect(numbersHeard).toHaveLength(1);
      gate.heal();
      await waitUntil(() => numbersHeard.length >= 21, patience);
      await pause(500);
      await behind.close();
      await gate.close();
      return { heard: numbersHeard, joins: log.joins };
    });
    expect(heard.toSorted((a, b) => a - b)).toEqual(numbers(21));
    expect(joins).toBe(1);
  });

  it('a handler that takes longer than a member may be silent causes no rebalance and no second delivery', async () => {
    const outcome = await unlessMissed(async () => {
      const { type, consumer } = newcomers();
      const Slow = eventType(type, z.object({ n: z.int() }));
      const log = logOfJoins();
      let begun = 0;
      let done = 0;
      const patient = await openBus(place.config, { name: 'patient', log });
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
      await publish([happened(Slow, 0)]);
      await waitUntil(() => begun === 1);
      // Others pass it meanwhile.
      await publish([happened(Slow, 1)]);
      await waitUntil(() => done === 1);
      await waitUntil(() => done === 2);
      await pause(1_000);
      await patient.close();
      return { begun, joins: log.joins };
    });
    expect(outcome).toEqual({ begun: 2, joins: 1 });
  });

  it('what is no event goes to the dead letters and holds up nobody', async () => {
    const { type, consumer, heard, routes } = newcomers();
    await bus.subscribe({ consumer, routes });
    await ready(bus);
    const { kafka } = place.config;
    const producer = connect(kafka, { name: 'stranger', log: silent }).producer();
    await producer.connect();
    const headers = { ce_specversion: '1.0', ce_id: randomUUID(), ce_type: type };
    const misfits = [
      { value: 'no event' },
      { value: '{"n":', headers },
      { value: null, headers },
      { key: '\u0000', value: Buffer.from([0, 255]), headers: { odd: Buffer.from([0, 254]) } },
    ];
    await producer.send({ topic: topicOf(kafka, type), messages: misfits.map((each) => ({ ...each, partition: 0 })) });
    await publish(numbers(9).map((n) => happened({ type }, n)));
    await waitUntil(() => heard.length === 9);
    await waitUntil(
      async () => (await bus.depths()).find((each) => each.consumer === consumer)?.dead === misfits.length,
    );
    await producer.disconnect();
  });

  it('an event that the database does not take is a dead letter, and its neighbours are handled', async () => {
    const { type, consumer, heard, routes } = newcomers();
    await bus.subscribe({ consumer, batchSize: 10, routes });
    const odd = happened({ type }, 1, { source: 'nul \u0000' });
    await publish([happened({ type }, 0), odd, happened({ type }, 2)]);
    await waitUntil(() => heard.length === 2);
    expect(heard.toSorted()).toEqual([0, 2]);
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

/** A member that stands still together with its machine is missed, and rightly: it is not so each time. */
async function unlessMissed<Outcome extends { readonly joins: number }>(
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
