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
      const publishThree = async () => {
        const events = [
          newEvent(Happened, 1),
          newEvent(Happened, 2, { text: 'Ö👋"\\ю '.repeat(20_000) }),
          newEvent(Happened, 3),
        ];
        await publish(...events);
        return events;
      };
      const events = await publishUntil(publishThree, (all) => received.every((each) => has(each, all)));
      for (const each of received) {
        expect(each).toEqual(expect.arrayContaining(events));
        expect(new Set(each.map(({ id }) => id)).size).toBe(each.length);
      }
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
      const publishOne = async (n: number) => {
        const events = [newEvent(Happened, n)];
        await publish(...events);
        return events;
      };
      await publishUntil(
        () => publishOne(2),
        (all) => has(received, all),
      );
      await listening.stop();
      const receivedByOther: Event[] = [];
      await fixture.bus.listen(Happened, (event) => receivedByOther.push(event));
      await publishUntil(
        () => publishOne(3),
        (all) => has(receivedByOther, all),
      );
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
        const events = [newEvent(Happened, 1), newEvent(Happened, 3)];
        await publish(events[0]!);
        await publish({ ...newEvent(Happened, 2), data: 'misfit' }, events[1]!);
        return events;
      };
      await publishUntil(publishThree, (all) => has(received, all));
      expect(new Set(received.map(numberOf))).toEqual(new Set([1, 3]));
    });
  });
}

function has(received: readonly Event[], events: readonly Event[]): boolean {
  return events.every(({ id }) => received.some((each) => each.id === id));
}

/** Publishes other events until one round is received: a listener misses those of moments without a connection. */
async function publishUntil(
  publishSome: () => Promise<Event[]>,
  areReceived: (events: readonly Event[]) => boolean,
): Promise<Event[]> {
  return waitUntil(async () => {
    const events = await publishSome();
    await waitUntil(() => areReceived(events), { timeoutMs: 15_000 });
    return events;
  });
}
