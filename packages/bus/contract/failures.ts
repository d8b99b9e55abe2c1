import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { type FailureReason, Poison, Postponed, route } from '../port.ts';
import { collectInto, recordGiveUps } from '../test/handlers.ts';
import { type Body, newEvent, numberOf, numbers } from '../test/new-event.ts';
import type { Fixture } from './fixture.ts';

/** Events that cannot be handled are retried, then given up with a reason, and hold up no other event. */
export function failures(fixture: Fixture): void {
  const { newConsumer, publish, depth, arrived, drained } = fixture;

  describe('failures', () => {
    it('a failed event is retried after growing pauses and holds up no other event', async () => {
      const { Happened, consumer } = newConsumer();
      const tries: number[] = [];
      const [received, receivedByOther]: [Event[], Event[]] = [[], []];
      await fixture.bus.subscribe({
        consumer,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              if (events[0]?.data.n === 1 && tries.push(Date.now()) < 3) throw new Error('not yet');
              received.push(...events);
            },
          }),
        ],
      });
      await fixture.bus.subscribe({
        consumer: `${consumer}.other`,
        // Longer than the test: an event that waited for it would never be received.
        retryDelaySeconds: 3_600,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              if (events[0]?.data.n === 1) throw new Error('not yet');
              receivedByOther.push(...events);
            },
          }),
        ],
      });
      await publish(newEvent(Happened, 1));
      await waitUntil(() => tries.length > 0);
      await publish(newEvent(Happened, 2));
      await waitUntil(() => receivedByOther.length === 1 && received.length === 2);
      expect(receivedByOther.map(numberOf)).toEqual([2]);
      const [first = 0, second = 0, third = 0] = tries;
      expect(second - first).toBeGreaterThan(900);
      expect(third - second).toBeGreaterThan(1_900);
      expect(await depth(consumer)).toMatchObject({ dead: 0 });
    });

    it('an event without retries left becomes a dead letter with its reason', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      let tries = 0;
      await fixture.bus.subscribe({
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
      const event = newEvent(Happened, 1, { text: 'failing' });
      await publish(event);
      await waitUntil(() => givenUp.length === 1);
      expect(givenUp).toEqual([{ event, reason: { code: 'OUT_OF_ORDER', message: 'try 2', attempts: 2 } }]);
      await waitUntil(async () => (await depth(consumer))?.active === 0);
      expect(await depth(consumer)).toMatchObject({ consumer, waiting: 0, active: 0, dead: 1 });
    });

    it('a postponed event is delivered again after its pause, however often, without using up its tries', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      const tries: number[] = [];
      const others: Event[] = [];
      await fixture.bus.subscribe({
        consumer,
        batchSize: 10,
        retries: 0,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              const waiting = events.find(({ data }) => data.n === 1);
              if (waiting === undefined) return void others.push(...events);
              if (events.length === 1) tries.push(Date.now());
              if (tries.length < 4) throw new Postponed('something is away', 1_000);
              throw new Error('failed');
            },
            giveUp,
          }),
        ],
      });
      const event = newEvent(Happened, 1);
      // Together: a batch that has to wait is delivered event by event.
      await publish(event, newEvent(Happened, 2), newEvent(Happened, 3));
      await waitUntil(() => givenUp.length === 1 && others.length === 2);
      expect(tries).toHaveLength(4);
      expect(tries.at(-1)! - tries.at(-2)!).toBeGreaterThan(900);
      expect(givenUp).toEqual([{ event, reason: { code: 'INTERNAL', message: 'failed', attempts: 1 } }]);
    });

    it('poison is not retried', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      let tries = 0;
      await fixture.bus.subscribe({
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
      await publish(newEvent(Happened, 1));
      await waitUntil(() => givenUp.length === 1);
      expect(givenUp[0]?.reason).toMatchObject({ code: 'BAD_AUDIO', attempts: 1 });
      expect(givenUp[0]?.reason.message).toMatch(/^no header/);
      expect(tries).toBe(1);
    });

    it('a failing event in a delivery does not fail the others', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      const received: Event[] = [];
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
              received.push(...events);
            },
            giveUp,
          }),
        ],
      };
      await (await fixture.bus.subscribe(subscription)).stop();
      await publish(...Array.from({ length: 8 }, (_, n) => newEvent(Happened, n, { priority: n })));
      await arrived();
      await fixture.bus.subscribe(subscription);
      await waitUntil(() => givenUp.length === 1);
      expect(together).toEqual([8, 1, 1, 1, 1, 1, 1, 1, 1]);
      expect(received.map(numberOf)).toEqual([0, 1, 2, 3, 5, 6, 7]);
      expect(givenUp[0]).toMatchObject({ event: { data: { n: 4 } }, reason: { attempts: 1, code: 'INTERNAL' } });
    });

    it('of events published together, only those that fail are given up', async () => {
      const { Happened, consumer } = newConsumer();
      const { Happened: Dropped } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      const received: Event[] = [];
      const remaining = route<Body>({
        event: Happened,
        async handle(events) {
          if (events.some((event) => event.data.n === 3)) throw new Error('three');
          if (events.some((event) => event.data.n === 14)) throw new Poison('BAD', 'fourteen');
          received.push(...events);
        },
        giveUp,
      });
      const subscription = { consumer, batchSize: 100, retries: 1, routes: [remaining] };
      const both = [remaining, route<Body>({ event: Dropped, handle: collectInto(received) })];
      await (await fixture.bus.subscribe({ ...subscription, routes: both })).stop();
      const events = numbers(40).map((n) => newEvent(n === 15 ? Dropped : Happened, n));
      const misfit = { ...newEvent(Happened, 16), data: { n: 'sixteen', more: true } };
      events[16] = misfit as unknown as Event<Body>;
      await publish(...events);
      await arrived();
      await fixture.bus.subscribe(subscription);
      await waitUntil(async () => givenUp.length === 3 && (await depth(consumer))?.dead === 4);
      await drained(consumer);
      expect(received.map(numberOf).toSorted((a, b) => a - b)).toEqual(
        numbers(40).filter((n) => ![3, 14, 15, 16].includes(n)),
      );
      expect(givenUp).toHaveLength(3);
      expect(givenUp).toEqual(
        expect.arrayContaining([
          { event: events[3], reason: { code: 'INTERNAL', message: 'three', attempts: 2 } },
          { event: events[14], reason: { code: 'BAD', message: 'fourteen', attempts: 1 } },
          { event: misfit, reason: expect.objectContaining({ code: 'BODY_MISFIT', attempts: 1 }) },
        ]),
      );
    });

    it('an event that misfits the schema never reaches the handler and is given up unparsed', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      const received: Event[] = [];
      await fixture.bus.subscribe({
        consumer,
        batchSize: 10,
        routes: [route({ event: Happened, handle: collectInto(received), giveUp })],
      });
      const misfit = { ...newEvent(Happened, 1), data: { n: 'one', more: true } };
      await publish(misfit, newEvent(Happened, 2));
      await waitUntil(() => givenUp.length === 1 && received.length === 1);
      expect(received.map(numberOf)).toEqual([2]);
      expect(givenUp).toMatchObject([{ event: misfit, reason: { code: 'BODY_MISFIT', attempts: 1 } }]);
    });

    it('an event without a valid subject never reaches the handler and holds up no other event', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.subscribe({
        consumer,
        batchSize: 10,
        routes: [route<Body>({ event: Happened, handle: collectInto(received) })],
      });
      await publish(newEvent(Happened, 1, { subject: 'no uuid' }), newEvent(Happened, 2));
      await waitUntil(() => received.length === 1);
      await waitUntil(async () => (await depth(consumer))?.dead === 1);
      expect(received.map(numberOf)).toEqual([2]);
    });

    it('an event for which the consumer has no route any more becomes a dead letter', async () => {
      const { Happened, consumer } = newConsumer();
      const { Happened: Dropped } = newConsumer();
      const received: Event[] = [];
      const remaining = route<Body>({ event: Happened, handle: collectInto(received) });
      const both = [remaining, route<Body>({ event: Dropped, handle: collectInto(received) })];
      await (await fixture.bus.subscribe({ consumer, routes: both })).stop();
      await publish(newEvent(Dropped, 1), newEvent(Happened, 2));
      await arrived();
      await fixture.bus.subscribe({ consumer, routes: [remaining] });
      await waitUntil(async () => received.length === 1 && (await depth(consumer))?.dead === 1);
      expect(received.map(numberOf)).toEqual([2]);
    });

    it('giveUp is called until it returns', async () => {
      const { Happened, consumer } = newConsumer();
      const given: { n: number; reason: FailureReason }[] = [];
      const givenTo = (n: number) => given.filter((each) => each.n === n);
      await fixture.bus.subscribe({
        consumer,
        retries: 0,
        routes: [
          route({
            event: Happened,
            async handle() {
              throw new Error('no');
            },
            async giveUp(event, reason) {
              const n = numberOf(event);
              given.push({ n, reason });
              if (givenTo(n).length < 2) throw new Error('not now');
            },
          }),
        ],
      });
      await publish(newEvent(Happened, 1));
      await waitUntil(() => givenTo(1).length === 2);
      await publish(newEvent(Happened, 2));
      await waitUntil(() => givenTo(2).length === 2);
      const reason = { message: 'no', code: 'INTERNAL', attempts: 1 };
      expect(givenTo(1)).toEqual([
        { n: 1, reason },
        { n: 1, reason },
      ]);
      expect(await depth(consumer)).toMatchObject({ dead: 2 });
    });
  });
}
