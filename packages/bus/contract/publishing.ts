import { setTimeout as pause } from 'node:timers/promises';
import { type Event, eventType } from '@call-analysis/events';
import { type Context, currentContext, newTraceparent, withContext } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { z } from 'zod';
import { route } from '../port.ts';
import { type Body, happened } from '../test/events.ts';
import { numberOf, numbers, obituaries, takeInto } from '../test/handlers.ts';
import type { Stage } from './fixture.ts';

/** Facts arrive as they were told, when and only when their transaction commits. */
export function publishing(stage: Stage): void {
  const { newcomers, publish, arrived, drained } = stage;

  describe('publishing', () => {
    it('delivers an event as it was published', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      await stage.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
      const text = '“Жакшы” 👋\n\\u0000 \u2028';
      const event = happened(Happened, 1, { text, traceparent: '00-a-b-01', priority: 7 });
      await publish(event);
      await waitUntil(() => heard.length === 1);
      expect(heard).toEqual([event]);
    });

    it('delivers the uuids of whoever writes them large as everybody writes them', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      await stage.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle: takeInto(heard) })] });
      const event = happened(Happened, 1);
      const [id, subject, firmuuid] = [event.id, event.subject, event.firmuuid].map((uuid) => uuid.toUpperCase());
      await publish({ ...event, id: id!, subject: subject!, firmuuid: firmuuid! });
      await waitUntil(() => heard.length === 1);
      expect(heard[0]).toMatchObject({ id: event.id, subject: event.subject, firmuuid: event.firmuuid });
    });

    it('carries the request and the trace of whoever published, and the handler goes on with both', async () => {
      const { Happened, consumer } = newcomers();
      const heard: { event: Event; context: Context | undefined }[] = [];
      const handle = async (events: readonly Event[]) => {
        heard.push(...events.map((event) => ({ event, context: currentContext() })));
      };
      await stage.bus.subscribe({ consumer, routes: [route({ event: Happened, handle })] });
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
      await stage.bus.subscribe({ consumer: follower, routes: [route({ event: Followed, handle: takeInto(heard) })] });
      const routes = [
        route<Body>({
          event: Happened,
          handle: (events) =>
            publish(
              ...events.map((event) => ({ ...happened(Followed, event.data.n), traceparent: event.traceparent })),
            ),
        }),
      ];
      await (await stage.bus.subscribe({ consumer, batchSize: 10, routes })).stop();
      const traces = numbers(5).map(() => newTraceparent());
      await stage.place.transaction(async (tx) => {
        for (const [n, traceparent] of traces.entries()) {
          await withContext({ requestId: `r-${n}`, traceparent }, () => stage.bus.publish(tx, [happened(Happened, n)]));
        }
      });
      await stage.bus.subscribe({ consumer, batchSize: 10, routes });
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
      await stage.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
      const lost = stage.place.transaction(async (tx) => {
        await stage.bus.publish(tx, [happened(Happened, 1)]);
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
      await stage.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
      await stage.place.transaction(async (tx) => {
        await stage.bus.publish(tx, [happened(Happened, 1)]);
        await pause(300);
        expect(heard).toEqual([]);
      });
      await waitUntil(() => heard.length === 1);
    });

    it('takes an event id that is published again while it waits for one event', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const event = happened(Happened, 1);
      const subscription = await stage.bus.subscribe({
        consumer,
        routes: [route({ event: Happened, handle: takeInto(heard) })],
      });
      await subscription.stop();
      await publish(event, event);
      await publish(event);
      await arrived();
      await stage.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: takeInto(heard) })] });
      await drained(consumer);
      expect(heard.map(numberOf)).toEqual([1]);
    });

    it('takes thousands of events in one call', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      await stage.bus.subscribe({
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
        const subscription = await stage.bus.subscribe({
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
      await (await stage.bus.subscribe(subscription)).stop();
      const repeated = happened(Happened, 0);
      await publish(repeated, happened(Happened, 1));
      await publish(happened(Happened, 2), repeated);
      await publish(repeated);
      await arrived();
      await stage.bus.subscribe(subscription);
      await drained(consumer);
      expect(heard.map(numberOf).toSorted()).toEqual([0, 1, 2]);
    });

    it('gives up an event of characters that few stores take, and its neighbours are handled', async () => {
      const { Happened, consumer } = newcomers();
      const { told, giveUp } = obituaries();
      const heard: Event[] = [];
      await stage.bus.subscribe({
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
      const { Happened, consumer } = newcomers();
      const Anything = eventType(Happened.type, z.unknown());
      const json = fc.jsonValue({ stringUnit: 'binary' }).filter((value) => !JSON.stringify(value).includes('\\u0000'));
      const large = ['ю'.repeat(1_000_000), Array(3).fill('x'.repeat(2_000_000))];
      const bodies: unknown[] = [...fc.sample(json, 50), ...large];
      const heard = new Map<string, unknown>();
      await stage.bus.subscribe({
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
}
