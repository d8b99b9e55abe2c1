import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type GiveUpResult, Poison, route, DISCARD } from '../port.ts';
import { type Body, firm, happened } from '../test/events.ts';
import { numberOf, numbers, obituaries, takeInto } from '../test/handlers.ts';
import type { Stage } from './fixture.ts';

/** What is known of a subject can be taken out again. */
export function removing(stage: Stage): void {
  const { newcomers, publish, depth, arrived, drained } = stage;

  describe('removing', () => {
    const Erased = eventType<Body>('test.erased.v1', z.object({ n: z.int() }));
    const removePending = (subject: string) =>
      stage.place.transaction((tx) => stage.bus.removePending(tx, firm, subject, Erased));

    it('takes out what waits of a subject, alone or among others, for every consumer, and nothing else', async () => {
      const { Happened, consumer } = newcomers();
      const names = [consumer, `${consumer}-b`];
      for (const name of names) {
        const routes = [route<Body>({ event: Happened, handle: async () => {} })];
        await (await stage.bus.subscribe({ consumer: name, routes })).stop();
      }
      const secret = { ...happened(Happened, 1, { text: 'secret '.repeat(500) }), subject: randomUUID() };
      const again = { ...happened(Happened, 2, { text: 'secret' }), subject: secret.subject };
      const others = numbers(60).map((n) => happened(Happened, 100 + n, { text: 'so it goes '.repeat(n) }));
      await publish(again);
      await publish(...others.slice(0, 30), secret, ...others.slice(30));
      await publish({ ...happened(Happened, 3), subject: secret.subject, firmuuid: randomUUID() });
      await arrived();
      expect(await removePending(secret.subject)).toEqual({ removed: 4, inProgress: 0 });
      expect(await removePending(secret.subject)).toEqual({ removed: 0, inProgress: 0 });
      for (const name of names) {
        expect((await depth(name))?.waiting).toBe(61);
        const heard: Event[] = [];
        await stage.bus.subscribe({
          consumer: name,
          batchSize: 30,
          routes: [route<Body>({ event: Happened, handle: takeInto(heard) })],
        });
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
      await (await stage.bus.subscribe({ consumer, routes })).stop();
      const secret = happened(Happened, 1);
      const told = (n: number) => ({ ...happened(Erased, n), subject: secret.subject });
      await publish(secret, told(2));
      await publish(told(3));
      await publish(told(4), happened(Happened, 5));
      await arrived();
      expect(await removePending(secret.subject)).toEqual({ removed: 1, inProgress: 0 });
      await stage.bus.subscribe({ consumer, routes });
      await drained(consumer);
      expect(heard.map(numberOf).toSorted()).toEqual([2, 3, 4, 5]);
    });

    it('is undone with its transaction', async () => {
      const { Happened, consumer } = newcomers();
      const heard: Event[] = [];
      const routes = [route<Body>({ event: Happened, handle: takeInto(heard) })];
      await (await stage.bus.subscribe({ consumer, routes })).stop();
      const event = happened(Happened, 1);
      await publish(event);
      await arrived();
      const undone = stage.place.transaction(async (tx) => {
        await stage.bus.removePending(tx, firm, event.subject, Erased);
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await stage.bus.subscribe({ consumer, routes });
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
      await stage.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle })] });
      const event = happened(Happened, 1);
      await publish(event);
      await begun.promise;
      expect(await removePending(event.subject)).toEqual({ removed: 0, inProgress: 1 });
      end.resolve();
      await drained(consumer);
      expect(handled).toBe(1);
      expect(await removePending(event.subject)).toEqual({ removed: 0, inProgress: 0 });
    });

    it('takes dead letters out too, and the trace of their failure', async () => {
      const { Happened, consumer } = newcomers();
      const { told, giveUp } = obituaries();
      const handle = async () => {
        throw new Poison('DEAD', 'a reason that quotes a secret');
      };
      await stage.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle, giveUp })] });
      const event = happened(Happened, 1);
      await publish(event);
      await waitUntil(async () => told.length === 1 && (await depth(consumer))?.dead === 1);
      await waitUntil(async () => (await removePending(event.subject)).inProgress === 0);
      expect((await depth(consumer))?.dead).toBe(0);
    });

    it('takes dead letters out also while their death is told', async () => {
      const { Happened, consumer } = newcomers();
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const handle = async () => {
        throw new Poison('DEAD', 'a reason that quotes a secret');
      };
      const giveUp = async () => {
        begun.resolve();
        await end.promise;
      };
      await stage.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle, giveUp })] });
      const event = happened(Happened, 1);
      await publish(event);
      await begun.promise;
      // The dead letter and the trace of its failure.
      expect(await removePending(event.subject)).toEqual({ removed: 2, inProgress: 0 });
      end.resolve();
      await drained(consumer);
      expect((await depth(consumer))?.dead).toBe(0);
    });

    it('is done of what is given up when nobody wants it any more', async () => {
      const { Happened, consumer } = newcomers();
      let given = 0;
      const handle = async () => {
        throw new Poison('DEAD', 'a reason that quotes a secret');
      };
      const giveUp = async (): Promise<GiveUpResult> => {
        given += 1;
        return DISCARD;
      };
      await stage.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle, giveUp })] });
      const event = happened(Happened, 1);
      await publish(event);
      await waitUntil(async () => given === 1 && (await depth(consumer))?.dead === 0);
      expect(await removePending(event.subject)).toEqual({ removed: 0, inProgress: 0 });
    });
  });
}
