import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Event, eventType } from '@call-analysis/events';
import type { Fault } from '@call-analysis/fault';
import { openTcpProxy, type TcpProxy, waitUntil } from '@call-analysis/testing';
import { type KafkaServer, startKafka } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openBus, openListener } from '../open.ts';
import { type AnyRoute, type Bus, route } from '../port.ts';
import { testKafka, type KafkaUnderTest, openKafkaTransport } from '../test/kafka.ts';
import { newEvent } from '../test/new-event.ts';
import { connect } from './connection/client.ts';
import { SESSION_TIMEOUT_MS } from './consumer/membership.ts';
import { topicOf } from './topics/topic.ts';

const silent = { info() {}, warn() {}, error() {} };

const patience = { timeoutMs: 120_000 };
const LONGER_THAN_SESSION_MS = 1.5 * SESSION_TIMEOUT_MS;

describe('the Kafka transport in outages', () => {
  let server: KafkaServer;
  let transport: KafkaUnderTest;
  let bus: Bus;
  let silentLink: Promise<void>;
  let count = 0;

  beforeAll(async () => {
    server = await startKafka();
    transport = await openKafkaTransport(testKafka({ brokers: server.brokers, partitions: 3 }));
    bus = await openBus(transport.config, { name: 'test', log: silent });
    silentLink = dropEverything();
    // The test that awaits it runs later; until then a rejection would be unhandled.
    silentLink.catch(() => {});
  });

  afterAll(async () => {
    await bus?.close();
    await transport?.close();
    await server?.stop();
  });

  const publish = (events: readonly Event[], by = bus) => transport.transaction((tx) => by.publish(tx, events));
  const ready = (one: Pick<Bus, 'ready'>) => waitUntil(() => one.ready().then(() => true), patience);
  const isUnavailable = (one: Pick<Bus, 'ready'>) =>
    one.ready().then(
      () => false,
      ({ kind }: Fault) => kind === 'unavailable',
    );
  const depth = async (consumer: string, of = bus) => (await of.depths()).find((each) => each.consumer === consumer);
  const outbox = () => depth('outbox');

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

  /**
   * Makes an attempt whose reader must not have to rejoin its group. A machine that pauses for longer than the session makes every
   * reader rejoin. So another reader, which nothing holds up, runs at the same time: an attempt in which that one had to rejoin says
   * nothing and is repeated. A pause may end between their sessions, so one attempt that fails is repeated too.
   */
  async function withoutRejoining<Outcome>(
    attempt: (log: ReturnType<typeof logOfJoins>) => Promise<Outcome>,
  ): Promise<Outcome> {
    for (let attempts = 1; ; attempts += 1) {
      const [log, logBeside] = [logOfJoins(), logOfJoins()];
      const { consumer, routes } = newConsumer();
      const beside = await openBus(transport.config, { name: 'beside', log: logBeside });
      await beside.subscribe({ consumer, routes });
      await ready(beside);
      const outcome = await attempt(log);
      await beside.close();
      if (logBeside.joins > 1 || (log.joins > 1 && attempts === 1)) continue;
      expect(log.joins).toBe(1);
      return outcome;
    }
  }

  /** Takes as long as a connection is kept without an answer, so it runs while the other tests do. */
  async function dropEverything(): Promise<void> {
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
    await publishOne(1);
    await waitUntil(() => isUnavailable(one), patience);
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
  }

  it('opened without Kafka, it accepts events, reports that Kafka does not respond, and delivers the events afterwards', async () => {
    const { type, consumer, received, routes } = newConsumer();
    await server.kill();
    // Nothing waits for Kafka, which starts again only after all of this.
    const late = await openBus(transport.config, { name: 'late', log: silent });
    await late.subscribe({ consumer, batchSize: 10, routes });
    await late.listen(eventType(type, z.unknown()), () => {});
    await publish(
      numbers(30).map((n) => newEvent({ type }, n)),
      late,
    );
    await expect(late.ready()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('Kafka'),
    });
    await waitUntil(async () => ((await outbox())?.oldestSeconds ?? 0) > 1);
    expect(await outbox()).toMatchObject({ waiting: 30, dead: 0 });
    const third = await openBus(transport.config, { name: 'third', log: silent });
    await third.subscribe({ consumer, routes });
    await third.close();
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
    await server.kill();
    const listener = await openListener(
      { transport: 'kafka', kafka: transport.config.kafka },
      { name: 'gateway', log: silent },
    );
    await listener.listen(eventType(type, z.unknown()), (event) => received.push(event));
    await expect(listener.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    await server.restart();
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
    await waitUntil(() => isUnavailable(listener));
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
    const deliversMore = async () => {
      const before = new Set(received).size;
      await waitUntil(() => new Set(received).size > before + 100, patience);
    };
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await deliversMore();
      await server.kill(signal);
      const before = published;
      await waitUntil(() => published > before + 100, patience);
      await server.restart();
    }
    await deliversMore();
    over.abort();
    await load;
    await waitUntil(() => new Set(received).size === published, patience);
    await waitUntil(async () => (await outbox())?.waiting === 0, patience);
    await ready(bus);
  });

  it('a link that drops everything is noticed, and events flow again soon after it recovers', async () => {
    await silentLink;
  });

  it('during an outage of the database, a reader stays in its group, and continues afterwards', async () => {
    const { received } = await withoutRejoining(async (log) => {
      const { type, consumer, received: numbersReceived, routes } = newConsumer();
      const url = new URL(transport.config.url);
      const gate = await openTcpProxy({ port: Number(url.port) });
      url.port = String(gate.port);
      const behind = await openBus({ ...transport.config, url: url.href }, { name: 'behind', log });
      await behind.subscribe({ consumer, batchSize: 10, routes });
      await ready(behind);
      await publish([newEvent({ type }, 0)]);
      await waitUntil(() => numbersReceived.length === 1);
      // Also recorded as handled: what the outage interrupts is delivered again.
      await waitUntil(async () => {
        const left = await depth(consumer, behind);
        return left?.active === 0 && left.waiting === 0;
      });
      gate.cut();
      await publish(numbers(20).map((n) => newEvent({ type }, n + 1)));
      await pause(LONGER_THAN_SESSION_MS);
      expect(numbersReceived).toHaveLength(1);
      gate.heal();
      await waitUntil(() => numbersReceived.length >= 21, patience);
      await behind.close();
      await gate.close();
      return { received: numbersReceived };
    });
    expect(received.toSorted((a, b) => a - b)).toEqual(numbers(21));
  });

  it('a handler that runs for longer than the session timeout causes no rebalance and no second delivery', async () => {
    const { begun: handled } = await withoutRejoining(async (log) => {
      const { type, consumer } = newConsumer();
      const Slow = eventType(type, z.object({ n: z.int() }));
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
              if (event?.data.n === 0) await pause(LONGER_THAN_SESSION_MS);
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
      await patient.close();
      return { begun };
    });
    expect(handled).toBe(2);
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
    await waitUntil(async () => (await depth(consumer))?.dead === misfits.length);
    await producer.disconnect();
  });

  it('an event that the database refuses becomes a dead letter, and the others are handled', async () => {
    const { type, consumer, received, routes } = newConsumer();
    await bus.subscribe({ consumer, batchSize: 10, routes });
    const odd = newEvent({ type }, 1, { source: 'nul \u0000' });
    await publish([newEvent({ type }, 0), odd, newEvent({ type }, 2)]);
    await waitUntil(() => received.length === 2);
    expect(received.toSorted()).toEqual([0, 2]);
    await waitUntil(async () => (await depth(consumer))?.dead === 1);
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

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
