import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { route } from '../port.ts';
import { collectInto, hangingHandler, recordGiveUps } from '../test/handlers.ts';
import { startHangingWorker } from '../test/hanging-worker.ts';
import { type Body, newEvent, numberOf, numbers } from '../test/new-event.ts';
import type { Fixture } from './fixture.ts';
import type { LeaseResults } from './leases.ts';

/** These tests start other processes, which is slow on a busy machine. */
const LIMIT_MS = 240_000;
const LONGER_THAN_A_TEST_MS = 3_600_000;

/** When a process stops or is killed, other processes get its events. */
export function processes(fixture: Fixture, leases: () => LeaseResults): void {
  const { newConsumer, openAnother, publish, depth, arrived, emptied, drained } = fixture;

  describe('processes', () => {
    it(
      'a killed process loses no event, and its successor takes over without counting an attempt',
      async () => {
        const { Happened, consumer } = newConsumer();
        const { givenUp, giveUp } = recordGiveUps();
        const received: Event[] = [];
        const routes = [route<Body>({ event: Happened, handle: collectInto(received), giveUp })];
        await (await fixture.bus.subscribe({ consumer, retries: 0, routes })).stop();
        await publish(newEvent(Happened, 1));
        await arrived();
        const victim = await startHangingWorker(fixture.transport.config, consumer, Happened.type);
        await victim.kill();
        expect(await depth(consumer)).toMatchObject({ active: 1 });
        const successor = await openAnother({ exclusive: true });
        await successor.subscribe({ consumer, retries: 0, routes });
        // The lease of the killed process lapses after the end of the test.
        await waitUntil(() => received.length === 1);
        await emptied(consumer);
        expect(givenUp).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      'a process that is killed while it handles a batch loses none of its events',
      async () => {
        const { Happened, consumer } = newConsumer();
        const { givenUp, giveUp } = recordGiveUps();
        const received: Event[] = [];
        const subscription = {
          consumer,
          batchSize: 20,
          retries: 0,
          routes: [route<Body>({ event: Happened, handle: collectInto(received), giveUp })],
        };
        await (await fixture.bus.subscribe(subscription)).stop();
        await publish(...numbers(15).map((n) => newEvent(Happened, n)));
        await arrived();
        const victim = await startHangingWorker(fixture.transport.config, consumer, Happened.type, {
          batchSize: 20,
          handles: 5,
        });
        await victim.kill();
        const successor = await openAnother({ exclusive: true });
        await successor.subscribe(subscription);
        await emptied(consumer);
        const missed = numbers(15).filter((n) => !received.some((event) => numberOf(event) === n));
        expect(missed.length).toBeLessThanOrEqual(5);
        expect(new Set(received.map(numberOf)).size).toBe(received.length);
        expect(givenUp).toEqual([]);
      },
      LIMIT_MS,
    );

    it('depths counts events, whether they were published alone or together', async () => {
      const { Happened, consumer } = newConsumer();
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      const subscription = {
        consumer,
        batchSize: 10,
        routes: [route<Body>({ event: Happened, handle: () => gate })],
      };
      await (await fixture.bus.subscribe(subscription)).stop();
      await publish(...numbers(260).map((n) => newEvent(Happened, n)));
      await publish(newEvent(Happened, 260));
      await arrived();
      expect(await depth(consumer)).toMatchObject({ consumer, waiting: 261, active: 0, dead: 0 });
      expect((await depth(consumer))?.oldestSeconds).toBeGreaterThanOrEqual(0);
      await fixture.bus.subscribe(subscription);
      // While a batch is being split, some events are counted twice.
      await waitUntil(async () => {
        const { waiting = 0, active = 0 } = (await depth(consumer)) ?? {};
        return active > 0 && waiting + active === 261;
      });
      go();
      await drained(consumer);
    });

    it('a bus that closes finishes the events that are being handled and leaves the rest', async () => {
      const { Happened, consumer } = newConsumer();
      const [begun, done, later]: [Event[], Event[], Event[]] = [[], [], []];
      const finish = Promise.withResolvers<void>();
      const first = await openAnother({ closeWithinMs: LONGER_THAN_A_TEST_MS });
      await first.subscribe({
        consumer,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              begun.push(...events);
              await finish.promise;
              // A bus that did not wait would be closed by now.
              await depth(consumer);
              done.push(...events);
            },
          }),
        ],
      });
      await publish(newEvent(Happened, 1), newEvent(Happened, 2), newEvent(Happened, 3));
      await waitUntil(() => begun.length === 1);
      const closing = first.close();
      finish.resolve();
      await closing;
      expect(done).toEqual(begun);
      await fixture.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle: collectInto(later) })] });
      await waitUntil(() => later.length === 2);
      await drained(consumer);
      expect([...done, ...later].map(numberOf).sort()).toEqual([1, 2, 3]);
    });

    it('a bus closes in time although a handler hangs, and its event is delivered again without counting an attempt', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      const received: Event[] = [];
      const { hasBegun, handle } = hangingHandler();
      const first = await openAnother({ closeWithinMs: 100 });
      await first.subscribe({
        consumer,
        retries: 0,
        routes: [route<Body>({ event: Happened, handle, giveUp })],
      });
      await publish(newEvent(Happened, 1));
      await waitUntil(hasBegun);
      await first.close();
      const routes = [route<Body>({ event: Happened, handle: collectInto(received), giveUp })];
      await fixture.bus.subscribe({ consumer, retries: 0, routes });
      await waitUntil(() => received.length === 1);
      expect(givenUp).toEqual([]);
    });

    it('a bus that closes does not wait again for a handler that outlasted stop', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const { hasBegun, handle } = hangingHandler();
      const first = await openAnother({ closeWithinMs: LONGER_THAN_A_TEST_MS });
      const subscription = await first.subscribe({
        consumer,
        retries: 0,
        routes: [route<Body>({ event: Happened, handle })],
      });
      await publish(newEvent(Happened, 1));
      await waitUntil(hasBegun);
      await subscription.stop(100);
      await first.close();
      await fixture.bus.subscribe({
        consumer,
        retries: 0,
        routes: [route<Body>({ event: Happened, handle: collectInto(received) })],
      });
      await waitUntil(() => received.length === 1);
    });

    it('a stopped subscription takes no new events', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const subscription = await fixture.bus.subscribe({
        consumer,
        routes: [route<Body>({ event: Happened, handle: collectInto(received) })],
      });
      const receivedByOther: Event[] = [];
      await fixture.bus.subscribe({
        consumer: `${consumer}.other`,
        routes: [route<Body>({ event: Happened, handle: collectInto(receivedByOther) })],
      });
      await subscription.stop();
      await publish(newEvent(Happened, 1));
      await arrived();
      await waitUntil(() => receivedByOther.length === 1);
      expect(received).toEqual([]);
      expect(await depth(consumer)).toMatchObject({ consumer, waiting: 1, active: 0, dead: 0 });
    });

    it(
      'a process keeps its lease while a handler runs for longer',
      async () => {
        await expect(leases().outlived).resolves.toBe(1);
      },
      LIMIT_MS,
    );

    it(
      'other processes get the events of a killed process when its lease lapses',
      async () => {
        const { lapsed, lapsedTogether } = leases();
        expect([...(await lapsed)]).toEqual([0]);
        expect([...(await lapsedTogether)].toSorted((a, b) => a - b)).toEqual(numbers(10));
      },
      LIMIT_MS,
    );
  });
}
