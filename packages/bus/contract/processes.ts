import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { route } from '../port.ts';
import { type Body, happened } from '../test/events.ts';
import { hanging, numberOf, numbers, obituaries, takeInto } from '../test/handlers.ts';
import { hangingWorker } from '../test/hanging-worker.ts';
import type { Leases } from './leases.ts';
import type { Stage } from './fixture.ts';

/** Others have been started, which is slow where much else is. */
const LIMIT_MS = 240_000;

/** Processes may come, go and be killed: what they had in hand is handed to another. */
export function processes(stage: Stage, leases: () => Leases): void {
  const { newcomers, another, publish, depth, arrived, emptied, drained } = stage;

  describe('processes', () => {
    it(
      'that are killed lose nothing, and do not use up the tries of what their successor takes over',
      async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        const routes = [route<Body>({ event: Happened, handle: takeInto(heard), giveUp })];
        await (await stage.bus.subscribe({ consumer, retries: 0, routes })).stop();
        await publish(happened(Happened, 1));
        await arrived();
        for (let kills = 0; kills < 3; kills++) {
          const victim = await hangingWorker(stage.place.config, consumer, Happened.type);
          await victim.kill();
        }
        expect(await depth(consumer)).toMatchObject({ active: 1 });
        const successor = await another({ exclusive: true });
        await successor.subscribe({ consumer, retries: 0, routes });
        // Before the lease of the one that was killed ends, which is thirty seconds long.
        await waitUntil(() => heard.length === 1, { timeoutMs: 20_000 });
        await emptied(consumer);
        expect(told).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      'that are killed in the midst of many events lose none of them',
      async () => {
        const { Happened, consumer } = newcomers();
        const { told, giveUp } = obituaries();
        const heard: Event[] = [];
        const subscription = {
          consumer,
          batchSize: 20,
          retries: 0,
          routes: [route<Body>({ event: Happened, handle: takeInto(heard), giveUp })],
        };
        await (await stage.bus.subscribe(subscription)).stop();
        await publish(...numbers(15).map((n) => happened(Happened, n)));
        await arrived();
        const victim = await hangingWorker(stage.place.config, consumer, Happened.type, { batchSize: 20, handles: 5 });
        await victim.kill();
        const successor = await another({ exclusive: true });
        await successor.subscribe(subscription);
        await emptied(consumer);
        const missed = numbers(15).filter((n) => !heard.some((event) => numberOf(event) === n));
        expect(missed.length).toBeLessThanOrEqual(5);
        expect(new Set(heard.map(numberOf)).size).toBe(heard.length);
        expect(told).toEqual([]);
      },
      LIMIT_MS,
    );

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
      await (await stage.bus.subscribe(subscription)).stop();
      await publish(...numbers(260).map((n) => happened(Happened, n)));
      await publish(happened(Happened, 260));
      await arrived();
      expect(await depth(consumer)).toMatchObject({ consumer, waiting: 261, active: 0, dead: 0 });
      expect((await depth(consumer))?.oldestSeconds).toBeGreaterThanOrEqual(0);
      await stage.bus.subscribe(subscription);
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
      const finish = Promise.withResolvers<void>();
      // Longer than this machine may stand still while it waits.
      const leaving = await another({ closeWithinMs: 60_000 });
      await leaving.subscribe({
        consumer,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              begun.push(...events);
              await finish.promise;
              done.push(...events);
            },
          }),
        ],
      });
      await publish(happened(Happened, 1), happened(Happened, 2), happened(Happened, 3));
      await waitUntil(() => begun.length === 1);
      const closing = leaving.close();
      await pause(300);
      expect(done).toEqual([]);
      finish.resolve();
      await closing;
      expect(done).toEqual(begun);
      await stage.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle: takeInto(later) })] });
      await waitUntil(() => later.length === 2);
      await drained(consumer);
      expect([...done, ...later].map(numberOf).sort()).toEqual([1, 2, 3]);
    });

    it('close in time over a handler that hangs, and put its event back untried', async () => {
      const { Happened, consumer } = newcomers();
      const { told, giveUp } = obituaries();
      const heard: Event[] = [];
      const { hasBegun, handle } = hanging();
      const leaving = await another({ closeWithinMs: 100 });
      await leaving.subscribe({
        consumer,
        retries: 0,
        routes: [route<Body>({ event: Happened, handle, giveUp })],
      });
      await publish(happened(Happened, 1));
      await waitUntil(hasBegun);
      const start = Date.now();
      await leaving.close();
      // Unless told otherwise it waits for eight seconds.
      expect(Date.now() - start).toBeLessThan(7_500);
      const routes = [route<Body>({ event: Happened, handle: takeInto(heard), giveUp })];
      await stage.bus.subscribe({ consumer, retries: 0, routes });
      await waitUntil(() => heard.length === 1);
      expect(told).toEqual([]);
    });

    it('that have stopped a subscription in time over a handler that hangs do not wait for it again when they close', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const { hasBegun, handle } = hanging();
      const leaving = await another({ closeWithinMs: 60_000 });
      const subscription = await leaving.subscribe({
        consumer,
        retries: 0,
        routes: [route<Body>({ event: Happened, handle })],
      });
      await publish(happened(Happened, 1));
      await waitUntil(hasBegun);
      const start = Date.now();
      await subscription.stop(100);
      await leaving.close();
      expect(Date.now() - start).toBeLessThan(50_000);
      await stage.bus.subscribe({
        consumer,
        retries: 0,
        routes: [route<Body>({ event: Happened, handle: takeInto(heard) })],
      });
      await waitUntil(() => heard.length === 1);
    });

    it('that stop a subscription take nothing new under it', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const subscription = await stage.bus.subscribe({
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

    it(
      'keep their lease while a handler runs longer than it',
      async () => {
        await expect(leases().outlived).resolves.toBe(1);
      },
      LIMIT_MS,
    );

    it(
      'that are killed while others live are taken over when their lease lapses',
      async () => {
        const { lapsed, lapsedTogether } = leases();
        expect((await lapsed).map(numberOf)).toEqual([0]);
        expect((await lapsedTogether).map(numberOf).toSorted((a, b) => a - b)).toEqual(numbers(10));
      },
      LIMIT_MS,
    );
  });
}
