import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { route } from '../port.ts';
import { collectInto } from '../test/handlers.ts';
import { type Body, newEvent, numberOf } from '../test/new-event.ts';
import type { Fixture } from './fixture.ts';

/** Every listener gets every event of its type while it is connected. */
export function listeners(fixture: Fixture): void {
  const { newConsumer, openAnother, publish, connected, drained } = fixture;

  describe('listeners', () => {
    it('every listener gets every event of its type, of any length', async () => {
      const { Happened, consumer } = newConsumer();
      const { Happened: Other } = newConsumer();
      const received: Event[][] = [[], [], []];
      const another = await openAnother();
      for (const [i, each] of [fixture.bus, fixture.bus, another].entries()) {
        await each.listen(Happened, (event) => received[i]?.push(event));
      }
      await fixture.bus.listen(Other, () => expect('another type').toBe('never received'));
      for (const each of [fixture.bus, another]) await connected(each);
      await fixture.bus.subscribe({ consumer, routes: [route<Body>({ event: Happened, handle: collectInto([]) })] });
      let events: Event[] = [];
      const publishThree = async () => {
        for (const each of received) each.length = 0;
        events = [
          newEvent(Happened, 1),
          newEvent(Happened, 2, { text: 'Ö👋"\\ю '.repeat(20_000) }),
          newEvent(Happened, 3),
        ];
        await publish(...events);
      };
      await publishUntil(publishThree, () => received.every((each) => each.length === 3));
      expect(received).toEqual([events, events, events]);
      await drained(consumer);
    });

    it('a listener gets no event of a transaction that is rolled back, and none after it stops', async () => {
      const { Happened } = newConsumer();
      const received: Event[] = [];
      const listening = await fixture.bus.listen(Happened, (event) => received.push(event));
      await connected(fixture.bus);
      await expect(
        fixture.transport.transaction(async (tx) => {
          await fixture.bus.publish(tx, [newEvent(Happened, 1)]);
          throw new Error('changed my mind');
        }),
      ).rejects.toThrow();
      await publishUntil(
        () => publish(newEvent(Happened, 2)),
        () => received.length > 0,
      );
      await listening.stop();
      await publish(newEvent(Happened, 3));
      await pause(100);
      expect(new Set(received.map(numberOf))).toEqual(new Set([2]));
    });

    it('a listener that throws does not affect the others, and events that misfit the schema are skipped', async () => {
      const { Happened } = newConsumer();
      const received: Event[] = [];
      await fixture.bus.listen(Happened, () => {
        throw new Error('listener failure');
      });
      await fixture.bus.listen(Happened, (event) => received.push(event));
      await connected(fixture.bus);
      const publishThree = async () => {
        received.length = 0;
        await publish(newEvent(Happened, 1));
        await publish({ ...newEvent(Happened, 2), data: 'misfit' }, newEvent(Happened, 3));
      };
      await publishUntil(publishThree, () => received.length === 2);
      expect(received.map(numberOf)).toEqual([1, 3]);
    });
  });
}

/** Publishes again until the events are received: a listener misses those of moments without a connection. */
async function publishUntil(publishAll: () => Promise<void>, isReceived: () => boolean): Promise<void> {
  await waitUntil(async () => {
    await publishAll();
    return waitUntil(isReceived, { timeoutMs: 15_000 });
  });
}
