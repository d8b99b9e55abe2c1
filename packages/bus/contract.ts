import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Event, type EventType, eventType } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { type Context, currentContext, newTraceparent, withContext } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { z } from 'zod';
import { type BusConfig, openBus } from './open.ts';
import type { BusOptions } from './options.ts';
import { type Bus, type DeadReason, Poison, route } from './port.ts';
import type { Log } from './queues.ts';
import { type Body, firm, happened } from './test/happened.ts';

/** Where a transport under test meets. */
export interface BusPlace {
  readonly config: BusConfig;
  /** Whether a new consumer also gets what was told before it came. */
  readonly remembers: boolean;
  /** A transaction of a service that publishes there. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Waits until what was published lies in the inboxes of all consumers that some bus reads for. */
  arrived(): Promise<void>;
  close(): Promise<void>;
}

const silent: Log = { info() {}, warn() {}, error() {} };

/** The promises of the port; every transport keeps all of them. */
export function busContract(name: string, open: () => Promise<BusPlace>): void {
  describe(`bus: ${name}`, () => {
    let place: BusPlace;
    let bus: Bus;
    const opened: Bus[] = [];
    let count = 0;

    /** An event and a consumer that no other test knows. */
    function newcomers(): { Happened: EventType<Body>; consumer: string } {
      count += 1;
      return {
        Happened: eventType(`test.happened-${count}.v1`, z.object({ n: z.int(), text: z.string().optional() })),
        consumer: `test.consumer-${count}`,
      };
    }

    async function another(options: Partial<BusOptions> & { exclusive?: boolean } = {}): Promise<Bus> {
      const { exclusive = false, ...rest } = options;
      const one = await openBus({ ...place.config, exclusive }, { name: 'test', log: silent, ...rest });
      opened.push(one);
      return one;
    }

    const publish = (...events: Event[]) => place.transaction((tx) => bus.publish(tx, events));
    const depth = async (consumer: string) => (await bus.depths()).find((each) => each.consumer === consumer);
    /** Waits until facts travel to and from it. */
    const connected = (one: Bus) => waitUntil(() => one.ready().then(() => true), { timeoutMs: 20_000 });
    const arrived = async (one = bus) => {
      await connected(one);
      await place.arrived();
    };
    const emptied = (consumer: string) =>
      waitUntil(async () => {
        const found = await depth(consumer);
        return found !== undefined && found.waiting === 0 && found.active === 0;
      });
    const drained = (consumer: string) => arrived().then(() => emptied(consumer));

    // These take as long as a lease does, so they run beside the other tests.
    let lapsed: Promise<Event[]>;
    let lapsedTogether: Promise<Event[]>;
    let slow: Promise<number>;
    const patient: Bus[] = [];

    async function openPatient(): Promise<Bus> {
      const one = await openBus(place.config, { name: 'test', log: silent, leaseSeconds: 10 });
      patient.push(one);
      return one;
    }

    async function takeOverLapsed(events: number): Promise<Event[]> {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const successor = await openPatient();
      const routes = [route<Body>({ event: Happened, handle: takeInto(heard) })];
      await (await successor.subscribe({ consumer, routes })).stop();
      await publish(...Array.from({ length: events }, (_, n) => happened(Happened, n)));
      await arrived(successor);
      const victim = await hangingWorker(place.config, consumer, Happened.type, { leaseSeconds: 10, batchSize: events });
      await successor.subscribe({ consumer, routes });
      await victim.kill();
      await waitUntil(() => heard.length === events, { timeoutMs: 28_000 });
      return heard;
    }

    async function outliveLease(): Promise<number> {
      const { Happened, consumer } = newcomers();
      let tries = 0;
      let done = false;
      const routes = [
        route<Body>({
          event: Happened,
          async handle() {
            tries += 1;
            await pause(16_000);
            done = true;
          },
        }),
      ];
      for (const one of [await openPatient(), await openPatient()]) await one.subscribe({ consumer, routes });
      await publish(happened(Happened, 1));
      await waitUntil(() => done, { timeoutMs: 28_000 });
      return tries;
    }

    beforeAll(async () => {
      place = await open();
      bus = await openBus(place.config, { name: 'test', log: silent });
      lapsed = takeOverLapsed(1);
      lapsedTogether = takeOverLapsed(10);
      slow = outliveLease();
      // Their tests come later and would be too late to catch.
      lapsed.catch(() => {});
      lapsedTogether.catch(() => {});
      slow.catch(() => {});
    });

    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.close()));
    });

    afterAll(async () => {
      await Promise.all([bus, ...patient].map((each) => each?.close()));
      await place?.close();
    });

    describe('publishing', () => {
      it('delivers an event as it was published', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        await bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
        const text = '“Жакшы” 👋\n\\u0000 \u2028';
        const event = happened(Happened, 1, { text, traceparent: '00-a-b-01', turn: 7 });
        await publish(event);
        await waitUntil(() => heard.length === 1);
        expect(heard).toEqual([event]);
      });

      it('carries the request and the trace of whoever published, and the handler goes on with both', async () => {
        const { Happened, consumer } = newcomers();
        const heard: { event: Event; context: Context | undefined }[] = [];
        const handle = async (events: readonly Event[]) => {
          heard.push(...events.map((event) => ({ event, context: currentContext() })));
        };
        await bus.subscribe({ consumer, routes: [route({ event: Happened, handle })] });
        const traceparent = newTraceparent();
        await withContext({ requestId: 'r-1', traceparent }, () => publish(happened(Happened, 1)));
        await waitUntil(() => heard.length === 1);
        const { event, context } = heard[0]!;
        expect(event.requestid).toBe('r-1');
        expect(event.traceparent).not.toBe(traceparent);
        expect(event.traceparent?.slice(0, 36)).toBe(traceparent.slice(0, 36));
        expect(context).toEqual({ requestId: 'r-1', traceparent: event.traceparent });
      });

      it('tells apart what caused the facts that come of events handled together', async () => {
        const { Happened, consumer } = newcomers();
        const { Happened: Followed, consumer: follower } = newcomers();
        const heard: Event[] = [];
        await bus.subscribe({ consumer: follower, routes: [route({ event: Followed, handle: takeInto(heard) })] });
        const routes = [
          route<Body>({
            event: Happened,
            handle: (events) => publish(...events.map((event) => ({ ...happened(Followed, event.data.n), traceparent: event.traceparent }))),
          }),
        ];
        await (await bus.subscribe({ consumer, batchSize: 10, routes })).stop();
        const traces = numbers(5).map(() => newTraceparent());
        await place.transaction(async (tx) => {
          for (const [n, traceparent] of traces.entries()) {
            await withContext({ requestId: `r-${n}`, traceparent }, () => bus.publish(tx, [happened(Happened, n)]));
          }
        });
        await bus.subscribe({ consumer, batchSize: 10, routes });
        await waitUntil(() => heard.length === 5);
        for (const event of heard) {
          const n = numberOf(event);
          expect(event.requestid).toBe(`r-${n}`);
          expect(event.traceparent?.slice(0, 36)).toBe(traces[n]?.slice(0, 36));
        }
      });

      it('delivers nothing of a transaction that is rolled back', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        await bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
        const lost = place.transaction(async (tx) => {
          await bus.publish(tx, [happened(Happened, 1)]);
          throw new Error('changed my mind');
        });
        await expect(lost).rejects.toThrow('changed my mind');
        await publish(happened(Happened, 2));
        await waitUntil(() => heard.length > 0);
        expect(heard.map(numberOf)).toEqual([2]);
      });

      it('delivers nothing before the transaction commits', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        await bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
        await place.transaction(async (tx) => {
          await bus.publish(tx, [happened(Happened, 1)]);
          await pause(300);
          expect(heard).toEqual([]);
        });
        await waitUntil(() => heard.length === 1);
      });

      it('takes an event id that is published again while it waits for one event', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const event = happened(Happened, 1);
        const subscription = await bus.subscribe({
          consumer,
          routes: [route({ event: Happened, handle: takeInto(heard) })],
        });
        await subscription.stop();
        await publish(event, event);
        await publish(event);
        await arrived();
        await bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
        await drained(consumer);
        expect(heard.map(numberOf)).toEqual([1]);
      });

      it('takes thousands of events in one call', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        await bus.subscribe({
          consumer,
          batchSize: 200,
          routes: [route({ event: Happened, handle: takeInto(heard) })],
        });
        const events = Array.from({ length: 2_500 }, (_, n) => happened(Happened, n));
        await publish(...events);
        await waitUntil(() => heard.length >= events.length);
        await drained(consumer);
        expect(new Set(heard.map(numberOf)).size).toBe(events.length);
        expect(heard).toHaveLength(events.length);
      });

      it('hands events that were published together over once each, whatever the batch size', async () => {
        for (const batchSize of [1, 7, 100]) {
          const { Happened, consumer: name } = newcomers();
          const heard: Event[] = [];
          let largest = 0;
          const handle = async (events: readonly Event<Body>[]) => {
            largest = Math.max(largest, events.length);
            heard.push(...events);
          };
          const subscription = await bus.subscribe({
            consumer: name,
            batchSize,
            routes: [route<Body>({ event: Happened, handle })],
          });
          const events = numbers(300).map((n) => happened(Happened, n, { text: 'so it goes '.repeat(n) }));
          await publish(...events);
          await waitUntil(() => heard.length >= 300);
          await drained(name);
          expect(heard.toSorted((a, b) => numberOf(a) - numberOf(b))).toEqual(events);
          expect(largest).toBeLessThanOrEqual(batchSize);
          await subscription.stop();
        }
      });

      it('never hands an event over twice at once, although it was published among different others', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const subscription = {
          consumer,
          batchSize: 100,
          routes: [route<Body>({ event: Happened, handle: takeInto(heard) })],
        };
        await (await bus.subscribe(subscription)).stop();
        const repeated = happened(Happened, 0);
        await publish(repeated, happened(Happened, 1));
        await publish(happened(Happened, 2), repeated);
        await publish(repeated);
        await arrived();
        await bus.subscribe(subscription);
        await drained(consumer);
        expect(heard.map(numberOf).toSorted()).toEqual([0, 1, 2]);
      });

      it('gives up an event of characters that few stores take, and its neighbours are handled', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        await bus.subscribe({
          consumer,
          batchSize: 10,
          retries: 0,
          routes: [
            route<Body>({
              event: Happened,
              async handle(events) {
                if (events.some((event) => event.data.n === 1)) throw new Error('one');
                heard.push(...events);
              },
              giveUp,
            }),
          ],
        });
        const odd = happened(Happened, 1, { text: '\u0000\ud800'.repeat(1_000) });
        await publish(happened(Happened, 0), odd, happened(Happened, 2));
        await waitUntil(() => told.length === 1 && heard.length === 2);
        expect(told).toMatchObject([{ event: odd, reason: { message: 'one' } }]);
        await drained(consumer);
      });

      it('takes bodies of every shape and size', async () => {
        const { consumer } = newcomers();
        const Anything = eventType(`test.anything-${count}.v1`, z.unknown());
        const json = fc
          .jsonValue({ stringUnit: 'binary' })
          .filter((value) => !JSON.stringify(value).includes('\\u0000'));
        const large = ['ю'.repeat(1_000_000), Array(3).fill('x'.repeat(2_000_000))];
        const bodies: unknown[] = [...fc.sample(json, 50), ...large];
        const heard = new Map<string, unknown>();
        await bus.subscribe({
          consumer,
          batchSize: 10,
          routes: [
            route({
              event: Anything,
              async handle(events) {
                for (const event of events) heard.set(event.id, event.data);
              },
            }),
          ],
        });
        const events = bodies.map((data) => ({
          ...happened(Anything, 0),
          data: JSON.parse(JSON.stringify(data)) as unknown,
        }));
        await publish(...events);
        await waitUntil(() => heard.size === events.length);
        expect(events.map((event) => heard.get(event.id))).toEqual(events.map((event) => event.data));
      });

      it('of nothing is nothing', async () => {
        await expect(publish()).resolves.toBeUndefined();
        await expect(publish(happened(newcomers().Happened, 1))).resolves.toBeUndefined();
      });
    });

    describe('forgetting', () => {
      const Erased = eventType<Body>('test.erased.v1', z.object({ n: z.int() }));
      const forget = (subject: string) => place.transaction((tx) => bus.forget(tx, firm, subject, Erased));

      it('takes out what waits of a subject, alone or among others, for every consumer, and nothing else', async () => {
        const { Happened, consumer } = newcomers();
        const names = [consumer, `${consumer}-b`];
        for (const name of names) {
          const routes = [route<Body>({ event: Happened, handle: async () => {} })];
          await (await bus.subscribe({ consumer: name, routes })).stop();
        }
        const secret = { ...happened(Happened, 1, { text: 'secret '.repeat(500) }), subject: randomUUID() };
        const again = { ...happened(Happened, 2, { text: 'secret' }), subject: secret.subject };
        const others = numbers(60).map((n) => happened(Happened, 100 + n, { text: 'so it goes '.repeat(n) }));
        await publish(again);
        await publish(...others.slice(0, 30), secret, ...others.slice(30));
        await publish({ ...happened(Happened, 3), subject: secret.subject, firmuuid: randomUUID() });
        await arrived();
        expect(await forget(secret.subject)).toEqual({ removed: 4, inHand: 0 });
        expect(await forget(secret.subject)).toEqual({ removed: 0, inHand: 0 });
        for (const name of names) {
          expect((await depth(name))?.waiting).toBe(61);
          const heard: Event[] = [];
          await bus.subscribe({ consumer: name, batchSize: 30, routes: [route<Body>({ event: Happened, handle: takeInto(heard) })] });
          await drained(name);
          expect(heard.map(numberOf).toSorted((a, b) => a - b)).toEqual([3, ...others.map(numberOf)]);
        }
      });

      it('leaves what tells of the erasure itself, alone or among others', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const routes = [
          route<Body>({ event: Erased, handle: takeInto(heard) }),
          route<Body>({ event: Happened, handle: takeInto(heard) }),
        ];
        await (await bus.subscribe({ consumer, routes })).stop();
        const secret = happened(Happened, 1);
        const told = (n: number) => ({ ...happened(Erased, n), subject: secret.subject });
        await publish(secret, told(2));
        await publish(told(3));
        await publish(told(4), happened(Happened, 5));
        await arrived();
        expect(await forget(secret.subject)).toEqual({ removed: 1, inHand: 0 });
        await bus.subscribe({ consumer, routes });
        await drained(consumer);
        expect(heard.map(numberOf).toSorted()).toEqual([2, 3, 4, 5]);
      });

      it('is undone with its transaction', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const routes = [route<Body>({ event: Happened, handle: takeInto(heard) })];
        await (await bus.subscribe({ consumer, routes })).stop();
        const event = happened(Happened, 1);
        await publish(event);
        await arrived();
        const undone = place.transaction(async (tx) => {
          await bus.forget(tx, firm, event.subject, Erased);
          throw new Error('undone');
        });
        await expect(undone).rejects.toThrow('undone');
        await bus.subscribe({ consumer, routes });
        await waitUntil(() => heard.length === 1);
      });

      it('leaves what is in hand to whoever has it, and says so until that has ended', async () => {
        const { Happened, consumer } = newcomers();
        const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        let handled = 0;
        const handle = async () => {
          begun.resolve();
          await end.promise;
          handled += 1;
        };
        await bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle })] });
        const event = happened(Happened, 1);
        await publish(event);
        await begun.promise;
        expect(await forget(event.subject)).toEqual({ removed: 0, inHand: 1 });
        end.resolve();
        await drained(consumer);
        expect(handled).toBe(1);
        expect(await forget(event.subject)).toEqual({ removed: 0, inHand: 0 });
      });

      it('takes dead letters out too, and the trace of their failure', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const handle = async () => {
          throw new Poison('DEAD', 'a reason that quotes a secret');
        };
        await bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle, giveUp })] });
        const event = happened(Happened, 1);
        await publish(event);
        await waitUntil(async () => told.length === 1 && (await depth(consumer))?.dead === 1);
        await waitUntil(async () => (await forget(event.subject)).inHand === 0);
        expect((await depth(consumer))?.dead).toBe(0);
      });
    });

    describe('consumers', () => {
      it('each get every event of their types, and of no other', async () => {
        const one = newcomers();
        const two = newcomers();
        const heard: Record<string, Event[]> = { [one.consumer]: [], [two.consumer]: [] };
        await bus.subscribe({
          consumer: one.consumer,
          routes: [
            route({ event: one.Happened, handle: takeInto(heard[one.consumer]) }),
            route({ event: two.Happened, handle: takeInto(heard[one.consumer]) }),
          ],
        });
        await bus.subscribe({
          consumer: two.consumer,
          routes: [route({ event: two.Happened, handle: takeInto(heard[two.consumer]) })],
        });
        await publish(happened(one.Happened, 1), happened(two.Happened, 2));
        await waitUntil(() => heard[one.consumer]?.length === 2 && heard[two.consumer]?.length === 1);
        expect(heard[one.consumer]?.map(numberOf).sort()).toEqual([1, 2]);
        expect(heard[two.consumer]?.map(numberOf)).toEqual([2]);
      });

      it('that hear one source alone get nothing of another', async () => {
        const { Happened, consumer } = newcomers();
        const [all, some]: [Event[], Event[]] = [[], []];
        await bus.subscribe({ consumer, routes: [route({ event: Happened, from: 'elsewhere', handle: takeInto(some) })] });
        await bus.subscribe({ consumer: `${consumer}.all`, routes: [route({ event: Happened, handle: takeInto(all) })] });
        await publish(happened(Happened, 1), { ...happened(Happened, 2), source: 'elsewhere' }, happened(Happened, 3));
        await waitUntil(() => all.length === 3 && some.length > 0);
        await drained(consumer);
        expect(some.map(numberOf)).toEqual([2]);
      });

      it('of one name share the events among their processes, each delivered once', async () => {
        const { Happened, consumer } = newcomers();
        const heard: [Event[], Event[]] = [[], []];
        const buses = [bus, await another()] as const;
        for (const i of [0, 1] as const) {
          await buses[i].subscribe({
            consumer,
            batchSize: 5,
            routes: [route({ event: Happened, handle: takeInto(heard[i], 5) })],
          });
        }
        for (let n = 0; n < 200; n += 10) {
          await publish(...Array.from({ length: 10 }, (_, i) => happened(Happened, n + i)));
        }
        await waitUntil(() => heard[0].length + heard[1].length >= 200);
        await drained(consumer);
        const numbers = [...heard[0], ...heard[1]].map(numberOf);
        expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n));
        expect(Math.min(heard[0].length, heard[1].length)).toBeGreaterThan(0);
      });

      it('hear from their first subscription on, and find what came while they were away', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const subscription = { consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] };
        await publish(happened(Happened, 1));
        const elsewhere = await another();
        await elsewhere.subscribe(subscription);
        await publish(happened(Happened, 2));
        await waitUntil(() => heard.some((event) => numberOf(event) === 2));
        await elsewhere.close();
        await publish(happened(Happened, 3));
        await pause(100);
        await bus.subscribe(subscription);
        await waitUntil(() => heard.some((event) => numberOf(event) === 3));
        await drained(consumer);
        expect(heard.map(numberOf)).toEqual(place.remembers ? [1, 2, 3] : [2, 3]);
      });

      it('get events of a lower turn first', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const subscription = {
          consumer,
          batchSize: 10,
          routes: [route({ event: Happened, handle: takeInto(heard) })],
        };
        await (await bus.subscribe(subscription)).stop();
        const turns = Array.from({ length: 100 }, (_, n) => (n * 37) % 100);
        await publish(...turns.slice(0, 60).map((turn) => happened(Happened, turn, { turn })));
        await publish(...turns.slice(60).map((turn) => happened(Happened, turn, { turn })));
        await arrived();
        await bus.subscribe(subscription);
        await waitUntil(() => heard.length === 100);
        expect(heard.map((event) => event.turn)).toEqual(turns.toSorted((a, b) => a - b));
      });

      it('get events of a lower turn first when many were published together', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const subscription = {
          consumer,
          batchSize: 40,
          routes: [route<Body>({ event: Happened, handle: takeInto(heard) })],
        };
        await (await bus.subscribe(subscription)).stop();
        const [one, other] = [randomUUID(), randomUUID()];
        await publish(
          ...numbers(300).map((n) => ({
            ...happened(Happened, n, { turn: 5 - Math.floor(n / 50) }),
            firmuuid: Math.floor(n / 10) % 2 === 0 ? one : other,
          })),
        );
        await arrived();
        await bus.subscribe(subscription);
        await waitUntil(() => heard.length === 300);
        await drained(consumer);
        const turns = heard.map((event) => event.turn);
        expect(turns).toEqual(turns.toSorted((a, b) => a - b));
        expect(heard.map(numberOf).toSorted((a, b) => a - b)).toEqual(numbers(300));
      });

      it('do not go on for long with what they took when a lower turn comes', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        await bus.subscribe({
          consumer,
          batchSize: 10,
          routes: [route<Body>({ event: Happened, handle: takeInto(heard, 250) })],
        });
        await publish(...numbers(100).map((n) => happened(Happened, n, { turn: 1 })));
        await waitUntil(() => heard.length > 0);
        await publish(happened(Happened, 1_000));
        await waitUntil(() => heard.some((event) => numberOf(event) === 1_000));
        expect(heard.length).toBeLessThan(80);
        await waitUntil(() => heard.length >= 101);
        await drained(consumer);
        expect(heard).toHaveLength(101);
      });

      it('get no more at once than they asked for, and no more hand-overs', async () => {
        const { Happened, consumer } = newcomers();
        let [inHand, most, largest, total] = [0, 0, 0, 0];
        await bus.subscribe({
          consumer,
          batchSize: 3,
          concurrency: 2,
          routes: [
            route({
              event: Happened,
              async handle(events) {
                inHand += 1;
                most = Math.max(most, inHand);
                largest = Math.max(largest, events.length);
                await pause(20);
                total += events.length;
                inHand -= 1;
              },
            }),
          ],
        });
        await publish(...Array.from({ length: 60 }, (_, n) => happened(Happened, n)));
        await waitUntil(() => total === 60);
        expect({ most, largest }).toEqual({ most: 2, largest: 3 });
      });

      it('drain a queue of single events without a pause between them', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        await bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
        const start = Date.now();
        await publish(...Array.from({ length: 100 }, (_, n) => happened(Happened, n)));
        await waitUntil(() => heard.length === 100);
        expect(Date.now() - start).toBeLessThan(5_000);
      });

      it('are named as names are', async () => {
        for (const consumer of ['', 'Upper', "a'b", 'a b', 'letters.dead', '_listeners']) {
          await expect(bus.subscribe({ consumer, routes: [] })).rejects.toThrow(/name/);
        }
      });
    });

    describe('failures', () => {
      it('are tried again after growing pauses, and hold up nobody', async () => {
        const { Happened, consumer } = newcomers();
        const tries: number[] = [];
        const heard: Event[] = [];
        await bus.subscribe({
          consumer,
          retryDelaySeconds: 2,
          routes: [
            route({
              event: Happened,
              async handle([event]) {
                if (event?.data.n === 1 && tries.push(Date.now()) < 3) throw new Error('not yet');
                if (event !== undefined) heard.push(event);
              },
            }),
          ],
        });
        await publish(happened(Happened, 1));
        await waitUntil(() => tries.length === 1);
        await publish(happened(Happened, 2));
        await waitUntil(() => heard.length === 1, { timeoutMs: 1_900 });
        await waitUntil(() => heard.length === 2);
        const [first = 0, second = 0, third = 0] = tries;
        expect(second - first).toBeGreaterThan(1_900);
        expect(third - second).toBeGreaterThan(3_900);
        expect(await depth(consumer)).toMatchObject({ dead: 0 });
      });

      it('end among the dead letters when tries are used up, with their reason', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        let tries = 0;
        await bus.subscribe({
          consumer,
          retries: 1,
          routes: [
            route({
              event: Happened,
              async handle() {
                tries += 1;
                throw new Fault('unavailable', 'OUT_OF_ORDER', `try ${tries}`);
              },
              giveUp,
            }),
          ],
        });
        const event = happened(Happened, 1, { text: 'last words' });
        await publish(event);
        await waitUntil(() => told.length === 1);
        expect(told).toEqual([{ event, reason: { code: 'OUT_OF_ORDER', message: 'try 2', attempts: 2 } }]);
        await waitUntil(async () => (await depth(consumer))?.active === 0);
        expect(await depth(consumer)).toMatchObject({ consumer, waiting: 0, active: 0, dead: 1 });
      });

      it('that are poison are not tried again', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        let tries = 0;
        await bus.subscribe({
          consumer,
          routes: [
            route({
              event: Happened,
              async handle() {
                tries += 1;
                throw new Poison('BAD_AUDIO', `no header \u0000\ud800${'.'.repeat(100_000)}`);
              },
              giveUp,
            }),
          ],
        });
        await publish(happened(Happened, 1));
        await waitUntil(() => told.length === 1);
        expect(told[0]?.reason).toMatchObject({ code: 'BAD_AUDIO', attempts: 1 });
        expect(told[0]?.reason.message).toMatch(/^no header/);
        expect(tries).toBe(1);
      });

      it('of one event in a batch leave its neighbours alone', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        const together: number[] = [];
        const subscription = {
          consumer,
          batchSize: 10,
          retries: 0,
          routes: [
            route<Body>({
              event: Happened,
              async handle(events) {
                together.push(events.length);
                if (events.some((event) => event.data.n === 4)) throw new Error('four');
                heard.push(...events);
              },
              giveUp,
            }),
          ],
        };
        await (await bus.subscribe(subscription)).stop();
        await publish(...Array.from({ length: 8 }, (_, n) => happened(Happened, n, { turn: n })));
        await arrived();
        await bus.subscribe(subscription);
        await waitUntil(() => told.length === 1);
        expect(together).toEqual([8, 1, 1, 1, 1, 1, 1, 1, 1]);
        expect(heard.map(numberOf)).toEqual([0, 1, 2, 3, 5, 6, 7]);
        expect(told[0]).toMatchObject({ event: { data: { n: 4 } }, reason: { attempts: 1, code: 'INTERNAL' } });
      });

      it('of events published together are those events alone', async () => {
        const { Happened, consumer } = newcomers();
        const { Happened: Forgotten } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        const remaining = route<Body>({
          event: Happened,
          async handle(events) {
            if (events.some((event) => event.data.n === 3)) throw new Error('three');
            if (events.some((event) => event.data.n === 14)) throw new Poison('BAD', 'fourteen');
            heard.push(...events);
          },
          giveUp,
        });
        const subscription = { consumer, batchSize: 100, retries: 1, routes: [remaining] };
        const both = [remaining, route<Body>({ event: Forgotten, handle: takeInto(heard) })];
        await (await bus.subscribe({ ...subscription, routes: both })).stop();
        const events = numbers(40).map((n) => happened(n === 15 ? Forgotten : Happened, n));
        const misfit = { ...happened(Happened, 16), data: { n: 'sixteen', more: true } };
        events[16] = misfit as unknown as Event<Body>;
        await publish(...events);
        await arrived();
        await bus.subscribe(subscription);
        await waitUntil(async () => told.length === 3 && (await depth(consumer))?.dead === 4);
        await drained(consumer);
        expect(heard.map(numberOf).toSorted((a, b) => a - b)).toEqual(
          numbers(40).filter((n) => ![3, 14, 15, 16].includes(n)),
        );
        expect(told).toHaveLength(3);
        expect(told).toEqual(
          expect.arrayContaining([
            { event: events[3], reason: { code: 'INTERNAL', message: 'three', attempts: 2 } },
            { event: events[14], reason: { code: 'BAD', message: 'fourteen', attempts: 1 } },
            { event: misfit, reason: expect.objectContaining({ code: 'BODY_MISFIT', attempts: 1 }) },
          ]),
        );
      });

      it('to fit the schema never reach the handler and are given up unparsed', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        await bus.subscribe({
          consumer,
          batchSize: 10,
          routes: [route({ event: Happened, handle: takeInto(heard), giveUp })],
        });
        const misfit = { ...happened(Happened, 1), data: { n: 'one', more: true } };
        await publish(misfit, happened(Happened, 2));
        await waitUntil(() => told.length === 1 && heard.length === 1);
        expect(heard.map(numberOf)).toEqual([2]);
        expect(told).toMatchObject([{ event: misfit, reason: { code: 'BODY_MISFIT', attempts: 1 } }]);
      });

      it('to have a route any more go to the dead letters', async () => {
        const { Happened, consumer } = newcomers();
        const { Happened: Forgotten } = newcomers();
        const heard: Event[] = [];
        const remaining = route<Body>({ event: Happened, handle: takeInto(heard) });
        const both = [remaining, route<Body>({ event: Forgotten, handle: takeInto(heard) })];
        await (await bus.subscribe({ consumer, routes: both })).stop();
        await publish(happened(Forgotten, 1), happened(Happened, 2));
        await arrived();
        await bus.subscribe({ consumer, routes: [remaining] });
        await waitUntil(async () => heard.length === 1 && (await depth(consumer))?.dead === 1);
        expect(heard.map(numberOf)).toEqual([2]);
      });

      it('are told to giveUp until it returns', async () => {
        const { Happened, consumer } = newcomers();
        const told: DeadReason[] = [];
        await bus.subscribe({
          consumer,
          retries: 0,
          routes: [
            route({
              event: Happened,
              async handle() {
                throw new Error('no');
              },
              async giveUp(_event, reason) {
                told.push(reason);
                if (told.length < 2) throw new Error('not now');
              },
            }),
          ],
        });
        await publish(happened(Happened, 1));
        await waitUntil(() => told.length === 2);
        await pause(700);
        expect(told).toEqual([told[0], { message: 'no', code: 'INTERNAL', attempts: 1 }]);
        expect(await depth(consumer)).toMatchObject({ dead: 1 });
      });
    });

    describe('processes', () => {
      it('that are killed lose nothing, and do not use up the tries of what their successor takes over', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        const routes = [route<Body>({ event: Happened, handle: takeInto(heard), giveUp })];
        await (await bus.subscribe({ consumer, retries: 0, routes })).stop();
        await publish(happened(Happened, 1));
        await arrived();
        for (let kills = 0; kills < 3; kills++) {
          const victim = await hangingWorker(place.config, consumer, Happened.type);
          await victim.kill();
        }
        expect(await depth(consumer)).toMatchObject({ active: 1 });
        const successor = await another({ exclusive: true });
        await successor.subscribe({ consumer, retries: 0, routes });
        await waitUntil(() => heard.length === 1, { timeoutMs: 2_000 });
        await emptied(consumer);
        expect(told).toEqual([]);
      });

      it('that are killed in the midst of many events lose none of them', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        const subscription = {
          consumer,
          batchSize: 20,
          retries: 0,
          routes: [route<Body>({ event: Happened, handle: takeInto(heard), giveUp })],
        };
        await (await bus.subscribe(subscription)).stop();
        await publish(...numbers(15).map((n) => happened(Happened, n)));
        await arrived();
        const victim = await hangingWorker(place.config, consumer, Happened.type, { batchSize: 20, handles: 5 });
        await victim.kill();
        const successor = await another({ exclusive: true });
        await successor.subscribe(subscription);
        await emptied(consumer);
        const missed = numbers(15).filter((n) => !heard.some((event) => numberOf(event) === n));
        expect(missed.length).toBeLessThanOrEqual(5);
        expect(new Set(heard.map(numberOf)).size).toBe(heard.length);
        expect(told).toEqual([]);
      });

      it('are told how many events wait and how many are in hand, however these were published', async () => {
        const { Happened, consumer } = newcomers();
        let go = () => {};
        const gate = new Promise<void>((resolve) => {
          go = resolve;
        });
        const subscription = {
          consumer,
          batchSize: 10,
          routes: [route<Body>({ event: Happened, handle: () => gate })],
        };
        await (await bus.subscribe(subscription)).stop();
        await publish(...numbers(260).map((n) => happened(Happened, n)));
        await publish(happened(Happened, 260));
        await arrived();
        expect(await depth(consumer)).toMatchObject({ consumer, waiting: 261, active: 0, dead: 0 });
        expect((await depth(consumer))?.oldestSeconds).toBeGreaterThanOrEqual(0);
        await bus.subscribe(subscription);
        // While those that came together are parted, some are there twice.
        await waitUntil(async () => {
          const { waiting = 0, active = 0 } = (await depth(consumer)) ?? {};
          return active > 0 && waiting + active === 261;
        });
        go();
        await drained(consumer);
      });

      it('finish what they have in hand when they close, and leave the rest', async () => {
        const { Happened, consumer } = newcomers();
        const [begun, done, later]: [Event[], Event[], Event[]] = [[], [], []];
        const leaving = await another();
        await leaving.subscribe({
          consumer,
          routes: [
            route<Body>({
              event: Happened,
              async handle(events) {
                begun.push(...events);
                await pause(300);
                done.push(...events);
              },
            }),
          ],
        });
        await publish(happened(Happened, 1), happened(Happened, 2), happened(Happened, 3));
        await waitUntil(() => begun.length === 1);
        await leaving.close();
        expect(done).toEqual(begun);
        await bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle: takeInto(later) })] });
        await waitUntil(() => later.length === 2);
        await drained(consumer);
        expect([...done, ...later].map(numberOf).sort()).toEqual([1, 2, 3]);
      });

      it('close in time over a handler that hangs, and put its event back untried', async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        let begun = false;
        const leaving = await another({ closeWithinMs: 100 });
        await leaving.subscribe({
          consumer,
          retries: 0,
          routes: [
            route<Body>({
              event: Happened,
              handle() {
                begun = true;
                return new Promise(() => {});
              },
              giveUp,
            }),
          ],
        });
        await publish(happened(Happened, 1));
        await waitUntil(() => begun);
        const start = Date.now();
        await leaving.close();
        expect(Date.now() - start).toBeLessThan(3_000);
        const routes = [route<Body>({ event: Happened, handle: takeInto(heard), giveUp })];
        await bus.subscribe({ consumer, retries: 0, routes });
        await waitUntil(() => heard.length === 1);
        expect(told).toEqual([]);
      });

      it('that stop a subscription take nothing new under it', async () => {
        const { Happened, consumer } = newcomers();
        const heard: Event[] = [];
        const subscription = await bus.subscribe({
          consumer,
          routes: [route<Body>({ event: Happened, handle: takeInto(heard) })],
        });
        await subscription.stop();
        await publish(happened(Happened, 1));
        await pause(300);
        expect(heard).toEqual([]);
        await arrived();
        expect(await depth(consumer)).toMatchObject({ consumer, waiting: 1, active: 0, dead: 0 });
      });

      it('keep their lease while a handler runs longer than it', async () => {
        await expect(slow).resolves.toBe(1);
      });

      it('that are killed while others live are taken over when their lease lapses', async () => {
        expect((await lapsed).map(numberOf)).toEqual([0]);
        expect((await lapsedTogether).map(numberOf).toSorted((a, b) => a - b)).toEqual(numbers(10));
      });
    });

    describe('listeners', () => {
      it('all hear every fact of their type as it happens, whatever its length', async () => {
        const { Happened, consumer } = newcomers();
        const { Happened: Other } = newcomers();
        const heard: Event[][] = [[], [], []];
        const elsewhere = await another();
        for (const [i, each] of [bus, bus, elsewhere].entries()) {
          await each.listen(Happened, (event) => heard[i]?.push(event));
        }
        await bus.listen(Other, () => expect('another type').toBe('never heard'));
        for (const each of [bus, elsewhere]) await connected(each);
        await bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle: takeInto([]) })] });
        const events = [
          happened(Happened, 1),
          happened(Happened, 2, { text: 'Ö👋"\\ю '.repeat(20_000) }),
          happened(Happened, 3),
        ];
        await publish(...events);
        await waitUntil(() => heard.every((each) => each.length === 3));
        expect(heard).toEqual([events, events, events]);
        await drained(consumer);
      });

      it('hear nothing of a transaction that is rolled back, and nothing after they stop', async () => {
        const { Happened } = newcomers();
        const heard: Event[] = [];
        const listening = await bus.listen(Happened, (event) => heard.push(event));
        await connected(bus);
        await expect(
          place.transaction(async (tx) => {
            await bus.publish(tx, [happened(Happened, 1)]);
            throw new Error('changed my mind');
          }),
        ).rejects.toThrow();
        await publish(happened(Happened, 2));
        await waitUntil(() => heard.length > 0);
        await listening.stop();
        await publish(happened(Happened, 3));
        await pause(100);
        expect(heard.map(numberOf)).toEqual([2]);
      });

      it('that throw disturb nobody', async () => {
        const { Happened } = newcomers();
        const heard: Event[] = [];
        await bus.listen(Happened, () => {
          throw new Error('deaf');
        });
        await bus.listen(Happened, (event) => heard.push(event));
        await connected(bus);
        await publish(happened(Happened, 1));
        await publish({ ...happened(Happened, 2), data: 'misfit' }, happened(Happened, 3));
        await waitUntil(() => heard.length === 2);
        expect(heard.map(numberOf)).toEqual([1, 3]);
      });
    });
  });
}

function numberOf(event: Event): number {
  return (event.data as Body).n;
}

function takeInto(heard: Event[] | undefined, takesMs = 0): (events: readonly Event[]) => Promise<void> {
  return async (events) => {
    if (takesMs > 0) await pause(takesMs);
    heard?.push(...events);
  };
}

function obituaries(): {
  told: { event: Event; reason: DeadReason }[];
  giveUp(event: Event, reason: DeadReason): Promise<void>;
} {
  const told: { event: Event; reason: DeadReason }[] = [];
  return {
    told,
    async giveUp(event, reason) {
      told.push({ event, reason });
    },
  };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** Another process, with an event in hand that it will never let go. */
async function hangingWorker(
  config: BusConfig,
  consumer: string,
  type: string,
  options: { leaseSeconds?: number; batchSize?: number; handles?: number } = {},
): Promise<{ kill(): Promise<void> }> {
  const program = fileURLToPath(new URL('./contract-worker.ts', import.meta.url));
  const order = JSON.stringify({ config, consumer, type, ...options });
  const child = spawn(process.execPath, [program, order], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const taken = once(createInterface({ input: child.stdout }), 'line');
  await Promise.race([
    taken,
    exited.then(() => {
      throw new Error('The worker ended before it took an event.');
    }),
  ]);
  return {
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
