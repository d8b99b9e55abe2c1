import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { route } from '../port.ts';
import { collectInto } from '../test/handlers.ts';
import { type Body, newEvent, numberOf, numbers } from '../test/new-event.ts';
import type { Fixture } from './fixture.ts';

/** Each consumer gets each event once, lower priorities first, and in deliveries of the size that it asked for. */
export function consumers(fixture: Fixture): void {
  const { newConsumer, openAnother, publish, arrived, drained } = fixture;

  describe('consumers', () => {
    it('each consumer gets every event of its types and no others', async () => {
      const one = newConsumer();
      const two = newConsumer();
      const received: Record<string, Event[]> = { [one.consumer]: [], [two.consumer]: [] };
      await fixture.bus.subscribe({
        consumer: one.consumer,
        routes: [
          route({ event: one.Happened, handle: collectInto(received[one.consumer]) }),
          route({ event: two.Happened, handle: collectInto(received[one.consumer]) }),
        ],
      });
      await fixture.bus.subscribe({
        consumer: two.consumer,
        routes: [route({ event: two.Happened, handle: collectInto(received[two.consumer]) })],
      });
      await publish(newEvent(one.Happened, 1), newEvent(two.Happened, 2));
      await waitUntil(() => received[one.consumer]?.length === 2 && received[two.consumer]?.length === 1);
      expect(received[one.consumer]?.map(numberOf).sort()).toEqual([1, 2]);
      expect(received[two.consumer]?.map(numberOf)).toEqual([2]);
    });

    it('a route with a source gets no events from other sources', async () => {
      const { Happened, consumer } = newConsumer();
      const [all, some]: [Event[], Event[]] = [[], []];
      await fixture.bus.subscribe({
        consumer,
        routes: [route({ event: Happened, from: 'elsewhere', handle: collectInto(some) })],
      });
      await fixture.bus.subscribe({
        consumer: `${consumer}.all`,
        routes: [route({ event: Happened, handle: collectInto(all) })],
      });
      await publish(newEvent(Happened, 1), { ...newEvent(Happened, 2), source: 'elsewhere' }, newEvent(Happened, 3));
      await waitUntil(() => all.length === 3 && some.length > 0);
      await drained(consumer);
      expect(some.map(numberOf)).toEqual([2]);
    });

    it('processes of one consumer share its events, and each event is delivered once', async () => {
      const { Happened, consumer } = newConsumer();
      const received: [Event[], Event[]] = [[], []];
      const buses = [fixture.bus, await openAnother()] as const;
      const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      for (const i of [0, 1] as const) {
        // Each waits for the other, so that a fast process cannot take all events.
        const handle = async (events: readonly Event[]) => {
          begun[i].resolve();
          await Promise.all(begun.map(({ promise }) => promise));
          received[i].push(...events);
        };
        await buses[i].subscribe({ consumer, batchSize: 5, routes: [route({ event: Happened, handle })] });
      }
      for (let n = 0; n < 200; n += 10) {
        await publish(...Array.from({ length: 10 }, (_, i) => newEvent(Happened, n + i)));
      }
      await waitUntil(() => received[0].length + received[1].length >= 200);
      await drained(consumer);
      const numbers = [...received[0], ...received[1]].map(numberOf);
      expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n));
      expect(Math.min(received[0].length, received[1].length)).toBeGreaterThan(0);
    });

    it('a consumer gets the events since its first subscription, also those published while it was not running', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const subscription = { consumer, routes: [route({ event: Happened, handle: collectInto(received) })] };
      await publish(newEvent(Happened, 1));
      const other = await openAnother();
      await other.subscribe(subscription);
      await publish(newEvent(Happened, 2));
      await waitUntil(() => received.some((event) => numberOf(event) === 2));
      await other.close();
      await publish(newEvent(Happened, 3));
      await arrived();
      await fixture.bus.subscribe(subscription);
      await waitUntil(() => received.some((event) => numberOf(event) === 3));
      await drained(consumer);
      expect(received.map(numberOf).toSorted()).toEqual(fixture.transport.keepsHistory ? [1, 2, 3] : [2, 3]);
    });

    it('events of a lower priority are delivered first', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const subscription = {
        consumer,
        batchSize: 10,
        routes: [route({ event: Happened, handle: collectInto(received) })],
      };
      await (await fixture.bus.subscribe(subscription)).stop();
      const priorities = Array.from({ length: 100 }, (_, n) => (n * 37) % 100);
      await publish(...priorities.slice(0, 60).map((priority) => newEvent(Happened, priority, { priority })));
      await publish(...priorities.slice(60).map((priority) => newEvent(Happened, priority, { priority })));
      await arrived();
      await fixture.bus.subscribe(subscription);
      await waitUntil(() => received.length === 100);
      expect(received.map((event) => event.priority)).toEqual(priorities.toSorted((a, b) => a - b));
    });

    it('events of a lower priority are delivered first when many were published together', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const subscription = {
        consumer,
        batchSize: 40,
        routes: [route<Body>({ event: Happened, handle: collectInto(received) })],
      };
      await (await fixture.bus.subscribe(subscription)).stop();
      const [one, other] = [randomUUID(), randomUUID()];
      await publish(
        ...numbers(300).map((n) => ({
          ...newEvent(Happened, n, { priority: 5 - Math.floor(n / 50) }),
          firmuuid: Math.floor(n / 10) % 2 === 0 ? one : other,
        })),
      );
      await arrived();
      await fixture.bus.subscribe(subscription);
      await waitUntil(() => received.length === 300);
      await drained(consumer);
      const priorities = received.map((event) => event.priority);
      expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
      expect(received.map(numberOf).toSorted((a, b) => a - b)).toEqual(numbers(300));
    });

    it('a worker returns fetched events to the queue in time for events of a lower priority', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const handle = async (events: readonly Event[]) => {
        begun.resolve();
        await goOn.promise;
        received.push(...events);
      };
      await fixture.bus.subscribe({ consumer, batchSize: 10, routes: [route<Body>({ event: Happened, handle })] });
      await publish(...numbers(100).map((n) => newEvent(Happened, n, { priority: 1 })));
      await begun.promise;
      await publish(newEvent(Happened, 1_000));
      await arrived();
      // Longer than a worker spends on fetched events.
      await pause(1_200);
      goOn.resolve();
      await waitUntil(() => received.length >= 101);
      await drained(consumer);
      expect(received).toHaveLength(101);
      expect(received.map(numberOf).indexOf(1_000)).toBeLessThan(30);
    });

    it('batchSize limits the events in a delivery, and concurrency the deliveries at the same time', async () => {
      const { Happened, consumer } = newConsumer();
      let [inProgress, most, largest, total] = [0, 0, 0, 0];
      const both = Promise.withResolvers<void>();
      await fixture.bus.subscribe({
        consumer,
        batchSize: 3,
        concurrency: 2,
        routes: [
          route({
            event: Happened,
            async handle(events) {
              inProgress += 1;
              most = Math.max(most, inProgress);
              largest = Math.max(largest, events.length);
              if (inProgress === 2) both.resolve();
              await both.promise;
              await pause(20);
              total += events.length;
              inProgress -= 1;
            },
          }),
        ],
      });
      await publish(...Array.from({ length: 60 }, (_, n) => newEvent(Happened, n)));
      await waitUntil(() => total === 60);
      expect({ most, largest }).toEqual({ most: 2, largest: 3 });
    });

    it('single events are delivered without a pause between them', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: collectInto(received) })] });
      await publish(...Array.from({ length: 100 }, (_, n) => newEvent(Happened, n)));
      // With a polling interval between any two it would take a hundred seconds.
      await waitUntil(() => received.length === 100, { timeoutMs: 50_000 });
    });

    it('a consumer with an invalid name is refused', async () => {
      for (const consumer of ['', 'Upper', "a'b", 'a b', 'letters.dead', '_listeners']) {
        await expect(fixture.bus.subscribe({ consumer, routes: [] })).rejects.toThrow(/name/);
      }
    });
  });
}
