import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { type FailureReason, Poison, route } from '../port.ts';
import { type Body, happened } from '../test/events.ts';
import { numberOf, numbers, obituaries, takeInto } from '../test/handlers.ts';
import type { Stage } from './fixture.ts';

/** What cannot be handled is tried again, then given up with its reason, and holds up nobody. */
export function failures(stage: Stage): void {
  const { newcomers, publish, depth, arrived, drained } = stage;

  describe('failures', () => {
    it('are tried again after growing pauses, and hold up nobody', async () => {
      const { Happened, consumer } = newcomers();
      const tries: number[] = [];
      const [heard, heardBeside]: [Event[], Event[]] = [[], []];
      await stage.bus.subscribe({
        consumer,
        retryDelaySeconds: 2,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              if (events[0]?.data.n === 1 && tries.push(Date.now()) < 3) throw new Error('not yet');
              heard.push(...events);
            },
          }),
        ],
      });
      await stage.bus.subscribe({
        consumer: `${consumer}.beside`,
        // Longer than the test: whoever waited for it would never be heard.
        retryDelaySeconds: 3_600,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              if (events[0]?.data.n === 1) throw new Error('not yet');
              heardBeside.push(...events);
            },
          }),
        ],
      });
      await publish(happened(Happened, 1));
      await waitUntil(() => tries.length === 1);
      await publish(happened(Happened, 2));
      await waitUntil(() => heardBeside.length === 1 && heard.length === 2);
      expect(heardBeside.map(numberOf)).toEqual([2]);
      const [first = 0, second = 0, third = 0] = tries;
      expect(second - first).toBeGreaterThan(1_900);
      expect(third - second).toBeGreaterThan(3_900);
      expect(await depth(consumer)).toMatchObject({ dead: 0 });
    });

    it('end among the dead letters when tries are used up, with their reason', async () => {
      const { Happened, consumer } = newcomers();
      const { told, giveUp } = obituaries();
      let tries = 0;
      await stage.bus.subscribe({
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
      await stage.bus.subscribe({
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
      await (await stage.bus.subscribe(subscription)).stop();
      await publish(...Array.from({ length: 8 }, (_, n) => happened(Happened, n, { priority: n })));
      await arrived();
      await stage.bus.subscribe(subscription);
      await waitUntil(() => told.length === 1);
      expect(together).toEqual([8, 1, 1, 1, 1, 1, 1, 1, 1]);
      expect(heard.map(numberOf)).toEqual([0, 1, 2, 3, 5, 6, 7]);
      expect(told[0]).toMatchObject({ event: { data: { n: 4 } }, reason: { attempts: 1, code: 'INTERNAL' } });
    });

    it('of events published together are those events alone', async () => {
      const { Happened, consumer } = newcomers();
      const { Happened: RemovedEvents } = newcomers();
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
      const both = [remaining, route<Body>({ event: RemovedEvents, handle: takeInto(heard) })];
      await (await stage.bus.subscribe({ ...subscription, routes: both })).stop();
      const events = numbers(40).map((n) => happened(n === 15 ? RemovedEvents : Happened, n));
      const misfit = { ...happened(Happened, 16), data: { n: 'sixteen', more: true } };
      events[16] = misfit as unknown as Event<Body>;
      await publish(...events);
      await arrived();
      await stage.bus.subscribe(subscription);
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
      await stage.bus.subscribe({
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

    it('to name what it is about never reach the handler, and hold up nobody', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      await stage.bus.subscribe({
        consumer,
        batchSize: 10,
        routes: [route<Body>({ event: Happened, handle: takeInto(heard) })],
      });
      await publish(happened(Happened, 1, { subject: 'no uuid' }), happened(Happened, 2));
      await waitUntil(() => heard.length === 1);
      await waitUntil(async () => (await depth(consumer))?.dead === 1);
      expect(heard.map(numberOf)).toEqual([2]);
    });

    it('to have a route any more go to the dead letters', async () => {
      const { Happened, consumer } = newcomers();
      const { Happened: RemovedEvents } = newcomers();
      const heard: Event[] = [];
      const remaining = route<Body>({ event: Happened, handle: takeInto(heard) });
      const both = [remaining, route<Body>({ event: RemovedEvents, handle: takeInto(heard) })];
      await (await stage.bus.subscribe({ consumer, routes: both })).stop();
      await publish(happened(RemovedEvents, 1), happened(Happened, 2));
      await arrived();
      await stage.bus.subscribe({ consumer, routes: [remaining] });
      await waitUntil(async () => heard.length === 1 && (await depth(consumer))?.dead === 1);
      expect(heard.map(numberOf)).toEqual([2]);
    });

    it('are told to giveUp until it returns', async () => {
      const { Happened, consumer } = newcomers();
      const told: FailureReason[] = [];
      await stage.bus.subscribe({
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
}
