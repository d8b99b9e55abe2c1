import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { route } from '../port.ts';
import { type Body, happened } from '../test/events.ts';
import { numberOf, takeInto } from '../test/handlers.ts';
import type { Stage } from './fixture.ts';

/** Whoever listens hears every fact of a type while connected. */
export function listeners(stage: Stage): void {
  const { newcomers, another, publish, connected, drained } = stage;

  describe('listeners', () => {
    it('all hear every fact of their type as it happens, whatever its length', async () => {
      const { Happened, consumer } = newcomers();
      const { Happened: Other } = newcomers();
      const heard: Event[][] = [[], [], []];
      const elsewhere = await another();
      for (const [i, each] of [stage.bus, stage.bus, elsewhere].entries()) {
        await each.listen(Happened, (event) => heard[i]?.push(event));
      }
      await stage.bus.listen(Other, () => expect('another type').toBe('never heard'));
      for (const each of [stage.bus, elsewhere]) await connected(each);
      await stage.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle: takeInto([]) })] });
      let events: Event[] = [];
      const tell = async () => {
        for (const each of heard) each.length = 0;
        events = [
          happened(Happened, 1),
          happened(Happened, 2, { text: 'Ö👋"\\ю '.repeat(20_000) }),
          happened(Happened, 3),
        ];
        await publish(...events);
      };
      await tellUntil(tell, () => heard.every((each) => each.length === 3));
      expect(heard).toEqual([events, events, events]);
      await drained(consumer);
    });

    it('hear nothing of a transaction that is rolled back, and nothing after they stop', async () => {
      const { Happened } = newcomers();
      const heard: Event[] = [];
      const listening = await stage.bus.listen(Happened, (event) => heard.push(event));
      await connected(stage.bus);
      await expect(
        stage.place.transaction(async (tx) => {
          await stage.bus.publish(tx, [happened(Happened, 1)]);
          throw new Error('changed my mind');
        }),
      ).rejects.toThrow();
      await tellUntil(
        () => publish(happened(Happened, 2)),
        () => heard.length > 0,
      );
      await listening.stop();
      await publish(happened(Happened, 3));
      await pause(100);
      expect(new Set(heard.map(numberOf))).toEqual(new Set([2]));
    });

    it('that throw disturb nobody', async () => {
      const { Happened } = newcomers();
      const heard: Event[] = [];
      await stage.bus.listen(Happened, () => {
        throw new Error('deaf');
      });
      await stage.bus.listen(Happened, (event) => heard.push(event));
      await connected(stage.bus);
      const tell = async () => {
        heard.length = 0;
        await publish(happened(Happened, 1));
        await publish({ ...happened(Happened, 2), data: 'misfit' }, happened(Happened, 3));
      };
      await tellUntil(tell, () => heard.length === 2);
      expect(heard.map(numberOf)).toEqual([1, 3]);
    });
  });
}

/** Tells again what was not heard: what is told while a listener is out of touch for a moment is lost to it. */
async function tellUntil(tell: () => Promise<void>, isHeard: () => boolean): Promise<void> {
  await waitUntil(async () => {
    await tell();
    return waitUntil(isHeard, { timeoutMs: 15_000 });
  });
}
