import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type GiveUpResult, Poison, route, DISCARD } from '../port.ts';
import { collectInto, recordGiveUps } from '../test/handlers.ts';
import { type Body, firm, newEvent, numberOf, numbers } from '../test/new-event.ts';
import type { Fixture } from './fixture.ts';

/** Reports the removal itself, so it is not removed with the others. */
const Erased = eventType<Body>('test.erased.v1', z.object({ n: z.int() }));

/** The pending events about a subject can be removed. */
export function removing(fixture: Fixture): void {
  const { newConsumer, publish, depth, arrived, drained } = fixture;

  describe('removing', () => {
    const removePending = (subject: string) =>
      fixture.transport.transaction((tx) => fixture.bus.removePending(tx, firm, subject, [Erased]));

    it('waiting events about a subject are removed for every consumer, published alone or with others, and no other events', async () => {
      const { Happened, consumer } = newConsumer();
      const names = [consumer, `${consumer}-b`];
      for (const name of names) {
        const routes = [route<Body>({ event: Happened, handle: async () => {} })];
        await (await fixture.bus.subscribe({ consumer: name, routes })).stop();
      }
      const secret = { ...newEvent(Happened, 1, { text: 'secret '.repeat(500) }), subject: randomUUID() };
      const again = { ...newEvent(Happened, 2, { text: 'secret' }), subject: secret.subject };
      const others = numbers(60).map((n) => newEvent(Happened, 100 + n, { text: 'so it goes '.repeat(n) }));
      await publish(again);
      await publish(...others.slice(0, 30), secret, ...others.slice(30));
      await publish({ ...newEvent(Happened, 3), subject: secret.subject, firmuuid: randomUUID() });
      await arrived();
      expect(await removePending(secret.subject)).toEqual({ removed: 4, inProgress: 0 });
      expect(await removePending(secret.subject)).toEqual({ removed: 0, inProgress: 0 });
      for (const name of names) {
        expect((await depth(name))?.waiting).toBe(61);
        const received: Event[] = [];
        await fixture.bus.subscribe({
          consumer: name,
          batchSize: 30,
          routes: [route<Body>({ event: Happened, handle: collectInto(received) })],
        });
        await drained(name);
        expect(received.map(numberOf).toSorted((a, b) => a - b)).toEqual([3, ...others.map(numberOf)]);
      }
    });

    it('events of the excepted types stay, published alone or with others', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const routes = [
        route<Body>({ event: Erased, handle: collectInto(received) }),
        route<Body>({ event: Happened, handle: collectInto(received) }),
      ];
      await (await fixture.bus.subscribe({ consumer, routes })).stop();
      const secret = newEvent(Happened, 1);
      const erased = (n: number) => ({ ...newEvent(Erased, n), subject: secret.subject });
      await publish(secret, erased(2));
      await publish(erased(3));
      await publish(erased(4), newEvent(Happened, 5));
      await arrived();
      expect(await removePending(secret.subject)).toEqual({ removed: 1, inProgress: 0 });
      await fixture.bus.subscribe({ consumer, routes });
      await drained(consumer);
      expect(received.map(numberOf).toSorted()).toEqual([2, 3, 4, 5]);
    });

    it('a removal is undone with its transaction', async () => {
      const { Happened, consumer } = newConsumer();
      const received: Event[] = [];
      const routes = [route<Body>({ event: Happened, handle: collectInto(received) })];
      await (await fixture.bus.subscribe({ consumer, routes })).stop();
      const event = newEvent(Happened, 1);
      await publish(event);
      await arrived();
      const undone = fixture.transport.transaction(async (tx) => {
        await fixture.bus.removePending(tx, firm, event.subject, [Erased]);
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await fixture.bus.subscribe({ consumer, routes });
      await waitUntil(() => received.length === 1);
    });

    it('an event that is being handled stays, and inProgress counts it until it is done', async () => {
      const { Happened, consumer } = newConsumer();
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let handled = 0;
      const handle = async () => {
        begun.resolve();
        await end.promise;
        handled += 1;
      };
      await fixture.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle })] });
      const event = newEvent(Happened, 1);
      await publish(event);
      await begun.promise;
      expect(await removePending(event.subject)).toEqual({ removed: 0, inProgress: 1 });
      end.resolve();
      await drained(consumer);
      expect(handled).toBe(1);
      expect(await removePending(event.subject)).toEqual({ removed: 0, inProgress: 0 });
    });

    it('dead letters are removed with what the queue keeps of the failure', async () => {
      const { Happened, consumer } = newConsumer();
      const { givenUp, giveUp } = recordGiveUps();
      const handle = async () => {
        throw new Poison('DEAD', 'a reason that quotes a secret');
      };
      await fixture.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle, giveUp })] });
      const event = newEvent(Happened, 1);
      await publish(event);
      await waitUntil(async () => givenUp.length === 1 && (await depth(consumer))?.dead === 1);
      await waitUntil(async () => (await removePending(event.subject)).inProgress === 0);
      expect((await depth(consumer))?.dead).toBe(0);
    });

    it('dead letters are removed also while giveUp runs', async () => {
      const { Happened, consumer } = newConsumer();
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const handle = async () => {
        throw new Poison('DEAD', 'a reason that quotes a secret');
      };
      const giveUp = async () => {
        begun.resolve();
        await end.promise;
      };
      await fixture.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle, giveUp })] });
      const event = newEvent(Happened, 1);
      await publish(event);
      await begun.promise;
      // The dead letter, and what the queue keeps of the failed event.
      expect(await removePending(event.subject)).toEqual({ removed: 2, inProgress: 0 });
      end.resolve();
      await drained(consumer);
      expect((await depth(consumer))?.dead).toBe(0);
    });

    it('no dead letter is kept when giveUp returns DISCARD', async () => {
      const { Happened, consumer } = newConsumer();
      let given = 0;
      const handle = async () => {
        throw new Poison('DEAD', 'a reason that quotes a secret');
      };
      const giveUp = async (): Promise<GiveUpResult> => {
        given += 1;
        return DISCARD;
      };
      await fixture.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle, giveUp })] });
      const event = newEvent(Happened, 1);
      await publish(event);
      await waitUntil(async () => given === 1 && (await depth(consumer))?.dead === 0);
      expect(await removePending(event.subject)).toEqual({ removed: 0, inProgress: 0 });
    });

    it('all events of a firm are removed, up to a limit at a time, except those of excepted types, alone or with others, and of other firms', async () => {
      const { Happened, consumer } = newConsumer();
      const { Happened: Kept } = newConsumer();
      const received: Event[] = [];
      const routes = [
        route<Body>({ event: Kept, handle: collectInto(received) }),
        route<Body>({ event: Happened, handle: collectInto(received) }),
      ];
      await (await fixture.bus.subscribe({ consumer, routes })).stop();
      const gone = { firmuuid: randomUUID() };
      await publish(...numbers(60).map((n) => newEvent(Happened, n, gone)));
      await publish(newEvent(Happened, 60, { ...gone, text: 'alone' }));
      await publish(newEvent(Happened, 61, gone), newEvent(Kept, 100, gone));
      await publish(newEvent(Kept, 101, gone));
      await publish(newEvent(Happened, 102));
      await arrived();
      const removeSome = () =>
        fixture.transport.transaction((tx) => fixture.bus.removePendingOfFirm(tx, gone.firmuuid, [Kept], 1));
      let removed = 0;
      for (let some = await removeSome(); some.removed > 0; some = await removeSome()) {
        expect(some.inProgress).toBe(0);
        removed += some.removed;
      }
      expect(removed).toBe(62);
      await fixture.bus.subscribe({ consumer, batchSize: 30, routes });
      await drained(consumer);
      expect(received.map(numberOf).toSorted((a, b) => a - b)).toEqual([100, 101, 102]);
    });
  });
}
