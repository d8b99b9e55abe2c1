import { randomUUID } from 'node:crypto';
import { type Event, type EventType, eventType } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Log } from '../config.ts';
import { openBus, openDeadLetters } from '../open.ts';
import { type DeadLetterFilter, type DeadLetters, type Bus, Poison, route } from '../port.ts';
import { type Body, newEvent } from '../test/new-event.ts';
import type { TransportUnderTest } from './fixture.ts';

const silent: Log = { info() {}, warn() {}, error() {} };
/** More than one transaction replays. */
const MANY = 130;

/** Tests the promises of DeadLetters. Every transport keeps all of them. */
export function deadLetterContract(name: string, open: () => Promise<TransportUnderTest>): void {
  describe(`dead letters: ${name}`, () => {
    let transport: TransportUnderTest;
    let bus: Bus;
    let deadLetters: DeadLetters;
    let count = 0;

    beforeAll(async () => {
      transport = await open();
      bus = await openBus(transport.config, { name: 'test', log: silent });
      deadLetters = await openDeadLetters(transport.config, { name: 'test', log: silent });
    }, 240_000);
    afterAll(async () => {
      await deadLetters?.close();
      await bus?.close();
      await transport?.close();
    });

    const publish = async (...events: Event[]) => {
      await waitUntil(() => bus.ready().then(() => true));
      await transport.transaction((tx) => bus.publish(tx, events));
    };
    const listedIds = (filter: DeadLetterFilter) =>
      deadLetters.list(filter, 100).then((listed) => listed.map(({ id }) => id));

    /** A consumer that fails while `isFailing`, and another of the same event type that never does. */
    async function subscribeTwo() {
      count += 1;
      const Happened = eventType(`test.failing-${count}.v1`, z.object({ n: z.int() }));
      const consumer = `test.consumer-${count}`;
      const state = { isFailing: true, received: [] as Event[], receivedByOther: [] as Event[], givenUp: 0 };
      await bus.subscribe({
        consumer,
        retries: 0,
        batchSize: 25,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              const { n } = events[0]!.data;
              if (state.isFailing) throw n % 2 === 0 ? new Poison('EVEN', `${n} is even`) : new Error('no room');
              state.received.push(...events);
            },
            async giveUp() {
              state.givenUp += 1;
            },
          }),
        ],
      });
      await bus.subscribe({
        consumer: `${consumer}.other`,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              state.receivedByOther.push(...events);
            },
          }),
        ],
      });
      return { Happened, consumer, state };
    }

    it('dead letters are listed newest first, with consumer, reason and time, and without their bodies', async () => {
      const { Happened, consumer, state } = await subscribeTwo();
      const began = Date.now();
      const [one, two] = [ofNewFirm(Happened, 1), ofNewFirm(Happened, 2)];
      await publish(one);
      await waitUntil(async () => (await listedIds({ consumer })).length === 1);
      await publish(two);
      await waitUntil(async () => (await listedIds({ consumer })).length === 2);
      const listed = await deadLetters.list({ consumer }, 100);
      expect(listed).toEqual([
        { ...attributesOf(two), consumer, code: 'EVEN', message: '2 is even', attempts: 1, at: expect.any(Date) },
        { ...attributesOf(one), consumer, code: 'INTERNAL', message: 'no room', attempts: 1, at: expect.any(Date) },
      ]);
      for (const { at } of listed) {
        expect(at.getTime()).toBeGreaterThan(began - 1_000);
        expect(at.getTime()).toBeLessThan(Date.now() + 1_000);
      }
      expect(state.givenUp).toBe(2);
    });

    it('dead letters are filtered by event, consumer, type, firm and code, and limited', async () => {
      const { Happened, consumer } = await subscribeTwo();
      const [one, two, three] = [ofNewFirm(Happened, 1), ofNewFirm(Happened, 2), ofNewFirm(Happened, 3)];
      await publish(one, two, three);
      await waitUntil(async () => (await listedIds({ consumer })).length === 3);
      expect(await listedIds({ ids: [one.id, three.id, randomUUID()] })).toEqual(
        expect.arrayContaining([one.id, three.id]),
      );
      expect((await listedIds({ type: Happened.type })).toSorted()).toEqual([one.id, two.id, three.id].toSorted());
      expect(await listedIds({ firmUuid: two.firmuuid })).toEqual([two.id]);
      expect(await listedIds({ consumer, code: 'EVEN' })).toEqual([two.id]);
      expect(await listedIds({ consumer: `${consumer}.other` })).toEqual([]);
      expect(await deadLetters.list({ consumer }, 2)).toHaveLength(2);
    });

    it('a replayed event goes complete to the consumer that gave it up and to no other, and is no longer listed', async () => {
      const { Happened, consumer, state } = await subscribeTwo();
      const [one, two] = [ofNewFirm(Happened, 1), ofNewFirm(Happened, 2)];
      await publish(one, two);
      await waitUntil(async () => (await listedIds({ consumer })).length === 2 && state.receivedByOther.length === 2);
      state.isFailing = false;
      expect(await deadLetters.replay({ ids: [one.id] })).toEqual({ replayed: 1, published: 0 });
      await waitUntil(() => state.received.length === 1);
      expect(await listedIds({ consumer })).toEqual([two.id]);
      expect(await deadLetters.replay({ consumer, code: 'INTERNAL' })).toEqual({ replayed: 0, published: 0 });
      expect(await deadLetters.replay({ consumer, code: 'EVEN' })).toEqual({ replayed: 1, published: 0 });
      await waitUntil(() => state.received.length === 2);
      expect(await listedIds({ consumer })).toEqual([]);
      const attributes = ({ id, type, subject, firmuuid, source, time, data }: Event) => ({
        id,
        type,
        subject,
        firmuuid,
        source,
        time,
        data,
      });
      expect(state.received.map(attributes)).toEqual([one, two].map(attributes));
      expect(state.receivedByOther).toHaveLength(2);
    });

    it('a replayed event that fails again is given up and listed again', async () => {
      const { Happened, consumer, state } = await subscribeTwo();
      const event = ofNewFirm(Happened, 2);
      await publish(event);
      await waitUntil(async () => (await listedIds({ consumer })).length === 1);
      expect(await deadLetters.replay({ consumer })).toEqual({ replayed: 1, published: 0 });
      await waitUntil(async () => state.givenUp === 2 && (await listedIds({ consumer })).length === 1);
      expect(await listedIds({ consumer })).toEqual([event.id]);
    });

    it('a replay may publish other events instead', async () => {
      const { Happened, consumer, state } = await subscribeTwo();
      const event = ofNewFirm(Happened, 4);
      await publish(event);
      await waitUntil(async () => (await listedIds({ consumer })).length === 1);
      state.isFailing = false;
      const other = ofNewFirm(Happened, 5);
      const seen: [Event, string][] = [];
      const replayed = await deadLetters.replay({ consumer }, (each, who) => {
        seen.push([each, who]);
        return { redeliver: false, publish: [other] };
      });
      expect(replayed).toEqual({ replayed: 1, published: 1 });
      expect(seen).toEqual([[expect.objectContaining({ id: event.id, data: { n: 4 } }), consumer]]);
      await waitUntil(() => state.received.length === 1 && state.receivedByOther.length === 2);
      expect(state.received[0]).toMatchObject({ id: other.id, data: { n: 5 } });
      expect(await listedIds({ consumer })).toEqual([]);
    });

    it('hundreds of dead letters are all replayed, each once', async () => {
      const { Happened, consumer, state } = await subscribeTwo();
      const events = Array.from({ length: MANY }, (_, n) => ofNewFirm(Happened, n));
      await publish(...events);
      await waitUntil(async () => (await deadLetters.list({ consumer }, 1000)).length === MANY, {
        timeoutMs: 150_000,
        everyMs: 500,
      });
      state.isFailing = false;
      expect(await deadLetters.replay({ consumer })).toEqual({ replayed: MANY, published: 0 });
      await waitUntil(() => state.received.length >= MANY, { timeoutMs: 100_000 });
      expect(new Set(state.received.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)));
      expect(state.received).toHaveLength(MANY);
    }, 300_000);
  });
}

/** An event of a new firm. */
function ofNewFirm(type: EventType, n: number): Event<Body> {
  return newEvent(type, n, { firmuuid: randomUUID() });
}

/** The attributes that a dead letter has. */
function attributesOf({ id, type, subject, firmuuid }: Event): object {
  return { id, type, subject, firmUuid: firmuuid };
}
