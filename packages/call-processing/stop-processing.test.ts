import { randomUUID } from 'node:crypto';
import { Poison, route } from '@call-analysis/bus';
import { CallErased, createEvent, type Event, eventType } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openTestService, type TestService } from './test/service.ts';
import { stopProcessing, findErased } from './tombstones.ts';

const Requested = eventType('test.requested.v1', z.object({}));

let service: TestService;
let consumer: string;
let consumers = 0;

beforeAll(async () => {
  service = await openTestService();
});
afterAll(() => service?.close());

/** Each test has its own consumer, for which events wait. */
beforeEach(async () => {
  consumer = `test.consumer-${(consumers += 1)}`;
  const handle = async () => {};
  const routes = [route({ event: Requested, handle }), route({ event: CallErased, handle })];
  await (await service.bus.subscribe({ consumer, routes })).stop();
});

const newEvent = () => createEvent('test', Requested, randomUUID(), { firmuuid: randomUUID(), priority: 0 }, {});
const erasureOf = (event: Event) =>
  createEvent('test', CallErased, event.subject, event, { erased_at: new Date().toISOString() });
const publish = (...events: Event[]) => service.db.transaction((tx) => service.bus.publish(tx, events));
const depth = async (name = consumer) => (await service.bus.depths()).find((each) => each.consumer === name);
const isErased = async (event: Event) =>
  (await service.db.transaction((tx) => findErased(tx, [event]))).has(event.subject);

describe('stopProcessing', () => {
  it('writes a tombstone and removes the pending events of the call, except the erasure, and no others', async () => {
    const [event, other] = [newEvent(), newEvent()];
    await publish(event, { ...event, id: randomUUID() }, other, erasureOf(event));
    expect(await depth()).toMatchObject({ waiting: 4 });
    await service.db.transaction((tx) => stopProcessing(service.bus, tx, event));
    expect(await depth()).toMatchObject({ waiting: 2 });
    expect([await isErased(event), await isErased(other)]).toEqual([true, false]);
    // Repeating it changes nothing.
    await service.db.transaction((tx) => stopProcessing(service.bus, tx, event));
    expect(await depth()).toMatchObject({ waiting: 2 });
  });

  it('removes the dead letters of the call', async () => {
    const failing = `${consumer}.failing`;
    const handle = async () => {
      throw new Poison('BAD', 'It is bad.');
    };
    const subscription = await service.bus.subscribe({
      consumer: failing,
      routes: [route({ event: Requested, handle })],
    });
    const [event, other] = [newEvent(), newEvent()];
    await publish(event, other);
    await waitUntil(async () => {
      const { dead = 0, active = 0, waiting = 0 } = (await depth(failing)) ?? {};
      return dead === 2 && active + waiting === 0;
    });
    await service.db.transaction((tx) => stopProcessing(service.bus, tx, event));
    expect(await depth(failing)).toMatchObject({ dead: 1 });
    await subscription.stop();
  });

  it('is undone with its transaction', async () => {
    const event = newEvent();
    await publish(event);
    const undone = service.db.transaction(async (tx) => {
      await stopProcessing(service.bus, tx, event);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await depth()).toMatchObject({ waiting: 1 });
    expect(await isErased(event)).toBe(false);
  });
});
