import { type Event, eventType } from '@call-analysis/events';
import { type Context, currentContext, newTraceparent, withContext } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { z } from 'zod';
import { route } from '../port.ts';
import { collectInto, recordGiveUps } from '../test/handlers.ts';
import { type Body, newEvent, numberOf, numbers } from '../test/new-event.ts';
import type { Fixture } from './fixture.ts';

/** Events arrive as they were published, when and only when their transaction commits. */
export function publishing(fixture: Fixture): void {
  const { newConsumer, publish, arrived, drained } = fixture;

  describe('publishing', () => {
    it('an event is delivered as it was published', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: collectInto(received) })] });
      const text = '“Жакшы” 👋\n\\u0000 \u2028';
      const event = newEvent(Happened, 1, { text, traceparent: '00-a-b-01', priority: 7 });
      await publish(event);
      await waitUntil(() => received.length === 1);
      expect(received).toEqual([event]);
    });

    it('upper-case uuids are delivered in lower case', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({
        consumer,
        routes: [route<Body>({ event: Happened, handle: collectInto(received) })],
      });
      const event = newEvent(Happened, 1);
      const [id, subject, firmuuid] = [event.id, event.subject, event.firmuuid].map((uuid) => uuid.toUpperCase());
      await publish({ ...event, id: id!, subject: subject!, firmuuid: firmuuid! });
      await waitUntil(() => received.length === 1);
      expect(received[0]).toMatchObject({ id: event.id, subject: event.subject, firmuuid: event.firmuuid });
    });

    it('an event carries the request and the trace of its publisher, and the handler continues both', async () => {
      const { Happened, consumer } = newConsumer();
      const received: { event: Event; context: Context | undefined }[] = [];
      const handle = async (events: readonly Event[]) => {
        received.push(...events.map((event) => ({ event, context: currentContext() })));
      };
      await fixture.bus.subscribe({ consumer, routes: [route({ event: Happened, handle })] });
      const traceparent = newTraceparent();
      await withContext({ requestId: 'r-1', traceparent }, () => publish(newEvent(Happened, 1)));
      await waitUntil(() => received.length === 1);
      const { event, context } = received[0]!;
      expect(event.requestid).toBe('r-1');
      expect(event.traceparent).not.toBe(traceparent);
      expect(event.traceparent?.slice(0, 36)).toBe(traceparent.slice(0, 36));
      expect(context).toEqual({ requestId: 'r-1', traceparent: event.traceparent });
    });

    it('events that result from events handled together carry the request and the trace of their own origin', async () => {
      const { Happened, consumer } = newConsumer();
      const { Happened: Followed, consumer: follower } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({
        consumer: follower,
        routes: [route({ event: Followed, handle: collectInto(received) })],
      });
      const routes = [
        route<Body>({
          event: Happened,
          handle: (events) =>
            publish(
              ...events.map((event) => ({ ...newEvent(Followed, event.data.n), traceparent: event.traceparent })),
            ),
        }),
      ];
      await (await fixture.bus.subscribe({ consumer, batchSize: 10, routes })).stop();
      const traces = numbers(5).map(() => newTraceparent());
      await fixture.transport.transaction(async (tx) => {
        for (const [n, traceparent] of traces.entries()) {
          await withContext({ requestId: `r-${n}`, traceparent }, () =>
            fixture.bus.publish(tx, [newEvent(Happened, n)]),
          );
        }
      });
      await fixture.bus.subscribe({ consumer, batchSize: 10, routes });
      await waitUntil(() => received.length === 5);
      for (const event of received) {
        const n = numberOf(event);
        expect(event.requestid).toBe(`r-${n}`);
        expect(event.traceparent?.slice(0, 36)).toBe(traces[n]?.slice(0, 36));
      }
    });

    it('no event of a transaction that is rolled back is delivered', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: collectInto(received) })] });
      const lost = fixture.transport.transaction(async (tx) => {
        await fixture.bus.publish(tx, [newEvent(Happened, 1)]);
        throw new Error('changed my mind');
      });
      await expect(lost).rejects.toThrow('changed my mind');
      await publish(newEvent(Happened, 2));
      await waitUntil(() => received.length > 0);
      expect(received.map(numberOf)).toEqual([2]);
    });

    it('no event is delivered before the transaction commits', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: collectInto(received) })] });
      const [published, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const open = fixture.transport.transaction(async (tx) => {
        await fixture.bus.publish(tx, [newEvent(Happened, 1)]);
        published.resolve();
        await checked.promise;
      });
      await published.promise;
      await publish(newEvent(Happened, 2));
      await waitUntil(() => received.length > 0);
      expect(received.map(numberOf)).toEqual([2]);
      checked.resolve();
      await open;
      await waitUntil(() => received.length === 2);
    });

    it('an event that is published again while it waits is delivered once', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const event = newEvent(Happened, 1);
      const subscription = await fixture.bus.subscribe({
        consumer,
        routes: [route({ event: Happened, handle: collectInto(received) })],
      });
      await subscription.stop();
      await publish(event, event);
      await publish(event);
      await arrived();
      await fixture.bus.subscribe({ consumer, routes: [route({ event: Happened, handle: collectInto(received) })] });
      await drained(consumer);
      expect(received.map(numberOf)).toEqual([1]);
    });

    it('thousands of events can be published in one call', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({
        consumer,
        batchSize: 200,
        routes: [route({ event: Happened, handle: collectInto(received) })],
      });
      const events = Array.from({ length: 2_500 }, (_, n) => newEvent(Happened, n));
      await publish(...events);
      await waitUntil(() => received.length >= events.length);
      await drained(consumer);
      expect(new Set(received.map(numberOf)).size).toBe(events.length);
      expect(received).toHaveLength(events.length);
    });

    it('events that were published together are delivered once each, for any batch size', async () => {
      for (const batchSize of [1, 7, 100]) {
        const { Happened, consumer: name } = newConsumer();
        const received: Event[] = [];
        let largest = 0;
        const handle = async (events: readonly Event<Body>[]) => {
          largest = Math.max(largest, events.length);
          received.push(...events);
        };
        const subscription = await fixture.bus.subscribe({
          consumer: name,
          batchSize,
          routes: [route<Body>({ event: Happened, handle })],
        });
        const events = numbers(300).map((n) => newEvent(Happened, n, { text: 'so it goes '.repeat(n) }));
        await publish(...events);
        await waitUntil(() => received.length >= 300);
        await drained(name);
        expect(received.toSorted((a, b) => numberOf(a) - numberOf(b))).toEqual(events);
        expect(largest).toBeLessThanOrEqual(batchSize);
        await subscription.stop();
      }
    });

    it('events that were published together are delivered together', async () => {
      const { Happened, consumer } = newConsumer();
      const deliveries: number[] = [];
      const handle = async (events: readonly Event<Body>[]) => {
        deliveries.push(events.length);
      };
      const subscription = { consumer, batchSize: 100, routes: [route<Body>({ event: Happened, handle })] };
      await (await fixture.bus.subscribe(subscription)).stop();
      await publish(...numbers(20).map((n) => newEvent(Happened, n)));
      await arrived();
      await fixture.bus.subscribe(subscription);
      await drained(consumer);
      expect(deliveries).toEqual([20]);
    });

    it('one delivery never has the same event twice, even if it was published with different others', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const subscription = {
        consumer,
        batchSize: 100,
        routes: [route<Body>({ event: Happened, handle: collectInto(received) })],
      };
      await (await fixture.bus.subscribe(subscription)).stop();
      const repeated = newEvent(Happened, 0);
      await publish(repeated, newEvent(Happened, 1));
      await publish(newEvent(Happened, 2), repeated);
      await publish(repeated);
      await arrived();
      await fixture.bus.subscribe(subscription);
      await drained(consumer);
      expect(received.map(numberOf).toSorted()).toEqual([0, 1, 2]);
    });

    it('an event with NUL and half surrogate pairs can be given up, and the others are handled', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      const received: Event[] = [];
      await fixture.bus.subscribe({
        consumer,
        batchSize: 10,
        retries: 0,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              if (events.some((event) => event.data.n === 1)) throw new Error('one');
              received.push(...events);
            },
            giveUp,
          }),
        ],
      });
      const odd = newEvent(Happened, 1, { text: '\u0000\ud800'.repeat(1_000) });
      await publish(newEvent(Happened, 0), odd, newEvent(Happened, 2));
      await waitUntil(() => givenUp.length === 1 && received.length === 2);
      expect(givenUp).toMatchObject([{ event: odd, reason: { message: 'one' } }]);
      await drained(consumer);
    });

    it('bodies of every shape and size are delivered', async () => {
      const { Happened, consumer } = newConsumer();
      const Anything = eventType(Happened.type, z.unknown());
      const json = fc.jsonValue({ stringUnit: 'binary' }).filter((value) => !JSON.stringify(value).includes('\\u0000'));
      const large = ['ю'.repeat(1_000_000), Array(3).fill('x'.repeat(2_000_000))];
      const bodies: unknown[] = [...fc.sample(json, 50), ...large];
      const received = new Map<string, unknown>();
      await fixture.bus.subscribe({
        consumer,
        batchSize: 10,
        routes: [
          route({
            event: Anything,
            async handle(events) {
              for (const event of events) received.set(event.id, event.data);
            },
          }),
        ],
      });
      const events = bodies.map((data) => ({
        ...newEvent(Anything, 0),
        data: JSON.parse(JSON.stringify(data)) as unknown,
      }));
      await publish(...events);
      await waitUntil(() => received.size === events.length);
      expect(events.map((event) => received.get(event.id))).toEqual(events.map((event) => event.data));
    });

    it('no events, and events without a consumer, can be published', async () => {
      await expect(publish()).resolves.toBeUndefined();
      await expect(publish(newEvent(newConsumer().Happened, 1))).resolves.toBeUndefined();
    });
  });
}
