import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { route } from '../port.ts';
import { type Body, happened } from '../test/events.ts';
import { numberOf, numbers, takeInto } from '../test/handlers.ts';
import type { Stage } from './fixture.ts';

/** Each name gets each fact once, lower turns first and no more at once than it asked for. */
export function consumers(stage: Stage): void {
  const { newcomers, another, publish, depth, arrived, drained } = stage;

  describe('consumers', () => {
    it('each get every event of their types, and of no other', async () => {
      const one = newcomers();
      const two = newcomers();
      const heard: Record<string, Event[]> = { [one.consumer]: [], [two.consumer]: [] };
      await stage.bus.subscribe({
        consumer: one.consumer,
        routes: [
          route({ event: one.Happened, handle: takeInto(heard[one.consumer]) }),
          route({ event: two.Happened, handle: takeInto(heard[one.consumer]) }),
        ],
      });
      await stage.bus.subscribe({
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
      await stage.bus.subscribe({
        consumer,
        routes: [route({ event: Happened, from: 'elsewhere', handle: takeInto(some) })],
      });
      await stage.bus.subscribe({
        consumer: `${consumer}.all`,
        routes: [route({ event: Happened, handle: takeInto(all) })],
      });
      await publish(happened(Happened, 1), { ...happened(Happened, 2), source: 'elsewhere' }, happened(Happened, 3));
      await waitUntil(() => all.length === 3 && some.length > 0);
      await drained(consumer);
      expect(some.map(numberOf)).toEqual([2]);
    });

    it('of one name share the events among their processes, each delivered once', async () => {
      const { Happened, consumer } = newcomers();
      const heard: [Event[], Event[]] = [[], []];
      const buses = [stage.bus, await another()] as const;
      const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      for (const i of [0, 1] as const) {
        // Neither goes on without the other, so that a quick one does not leave a slow one nothing.
        const handle = async (events: readonly Event[]) => {
          begun[i].resolve();
          await Promise.all(begun.map(({ promise }) => promise));
          heard[i].push(...events);
        };
        await buses[i].subscribe({ consumer, batchSize: 5, routes: [route({ event: Happened, handle })] });
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
      await stage.bus.subscribe(subscription);
      await waitUntil(() => heard.some((event) => numberOf(event) === 3));
      await drained(consumer);
      expect(heard.map(numberOf)).toEqual(stage.place.remembers ? [1, 2, 3] : [2, 3]);
    });

    it('get events of a lower turn first', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const subscription = {
        consumer,
        batchSize: 10,
        routes: [route({ event: Happened, handle: takeInto(heard) })],
      };
      await (await stage.bus.subscribe(subscription)).stop();
      const turns = Array.from({ length: 100 }, (_, n) => (n * 37) % 100);
      await publish(...turns.slice(0, 60).map((priority) => happened(Happened, priority, { priority })));
      await publish(...turns.slice(60).map((priority) => happened(Happened, priority, { priority })));
      await arrived();
      await stage.bus.subscribe(subscription);
      await waitUntil(() => heard.length === 100);
      expect(heard.map((event) => event.priority)).toEqual(turns.toSorted((a, b) => a - b));
    });

    it('get events of a lower turn first when many were published together', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const subscription = {
        consumer,
        batchSize: 40,
        routes: [route<Body>({ event: Happened, handle: takeInto(heard) })],
      };
      await (await stage.bus.subscribe(subscription)).stop();
      const [one, other] = [randomUUID(), randomUUID()];
      await publish(
        ...numbers(300).map((n) => ({
          ...happened(Happened, n, { priority: 5 - Math.floor(n / 50) }),
          firmuuid: Math.floor(n / 10) % 2 === 0 ? one : other,
        })),
      );
      await arrived();
      await stage.bus.subscribe(subscription);
      await waitUntil(() => heard.length === 300);
      await drained(consumer);
      const turns = heard.map((event) => event.priority);
      expect(turns).toEqual(turns.toSorted((a, b) => a - b));
      expect(heard.map(numberOf).toSorted((a, b) => a - b)).toEqual(numbers(300));
    });

    it('do not go on for long with what they took when a lower turn comes', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const handle = async (events: readonly Event[]) => {
        begun.resolve();
        await goOn.promise;
        heard.push(...events);
      };
      await stage.bus.subscribe({ consumer, batchSize: 10, routes: [route<Body>({ event: Happened, handle })] });
      await publish(...numbers(100).map((n) => happened(Happened, n, { priority: 1 })));
      await begun.promise;
      const before = (await depth(consumer))?.waiting ?? 0;
      await publish(happened(Happened, 1_000));
      await waitUntil(async () => (await depth(consumer))?.waiting === before + 1);
      // What is long for somebody who has taken more than he has in hand.
      await pause(1_200);
      goOn.resolve();
      await waitUntil(() => heard.length >= 101);
      await drained(consumer);
      expect(heard).toHaveLength(101);
      expect(heard.map(numberOf).indexOf(1_000)).toBeLessThan(30);
    });

    it('get no more at once than they asked for, and no more hand-overs', async () => {
      const { Happened, consumer } = newcomers();
      let [inProgress, most, largest, total] = [0, 0, 0, 0];
      const both = Promise.withResolvers<void>();
      await stage.bus.subscribe({
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
      await publish(...Array.from({ length: 60 }, (_, n) => happened(Happened, n)));
      await waitUntil(() => total === 60);
      expect({ most, largest }).toEqual({ most: 2, largest: 3 });
    });

    it('drain a queue of single events without a pause between them', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      await stage.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
      await publish(...Array.from({ length: 100 }, (_, n) => happened(Happened, n)));
      // With the pause of a poll between any two it would take a hundred seconds.
      await waitUntil(() => heard.length === 100, { timeoutMs: 50_000 });
    });

    it('are named as names are', async () => {
      for (const consumer of ['', 'Upper', "a'b", 'a b', 'letters.dead', '_listeners']) {
        await expect(stage.bus.subscribe({ consumer, routes: [] })).rejects.toThrow(/name/);
      }
    });
  });
}
