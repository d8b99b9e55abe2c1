import { randomUUID } from 'node:crypto';
import { Postponed } from '@call-analysis/bus';
import { createEvent, type Event, eventType } from '@call-analysis/events';
import { Fault, unavailable } from '@call-analysis/fault';
import { afterEach, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { consume } from './consumers.ts';

const Greeted = eventType('test.greeted.v1', z.object({}));
const HOUR_MS = 3_600_000;

afterEach(() => void jest.useRealTimers());

function greeted(ageMs = 0): Event {
  const event = createEvent('test', Greeted, randomUUID(), { firmuuid: randomUUID(), priority: 0 }, {});
  return { ...event, time: new Date(Date.now() - ageMs).toISOString() };
}

/** Handles events by throwing what `next` holds. */
function consumer() {
  const state: { next: unknown } = { next: undefined };
  const each = async () => {
    if (state.next !== undefined) throw state.next;
  };
  const { handle } = consume(Greeted, { each }).bind({});
  const thrownBy = (...events: Event[]) =>
    handle(events as never).then(
      () => null,
      (error: unknown) => error,
    );
  return { state, thrownBy };
}

it.each([
  ['a part that does not answer', unavailable('ingest')],
  ['a full disk', new Fault('unavailable', 'INSUFFICIENT_STORAGE', 'The disk is full.')],
])('an event waits for %s, longer the older it is', async (_what, fault) => {
  const { state, thrownBy } = consumer();
  state.next = fault;
  const young = await thrownBy(greeted());
  expect(young).toBeInstanceOf(Postponed);
  expect(young).toMatchObject({ message: fault.message, cause: fault, pauseMs: 1_000 });
  expect(await thrownBy(greeted(HOUR_MS))).toMatchObject({ name: 'Postponed', pauseMs: 30_000 });
});

it.each([
  ['an error', new Error('no')],
  ['what is wrong with the event', new Fault('invalid', 'INVALID', 'No.')],
  ['an engine that fails on this recording', new Fault('unavailable', 'ENGINE_FAILED', 'No.')],
])('%s uses up a try', async (_what, error) => {
  const { state, thrownBy } = consumer();
  state.next = error;
  expect(await thrownBy(greeted())).toBe(error);
});

it('events of one delivery are delivered again, each by itself', async () => {
  const { state, thrownBy } = consumer();
  state.next = unavailable('ingest');
  expect(await thrownBy(greeted(), greeted())).toBe(state.next);
});

it('after a day an event uses up its tries, unless the outage keeps the consumer from everything else too', async () => {
  jest.useFakeTimers({ now: Date.now() });
  const { state, thrownBy } = consumer();
  const old = greeted(25 * HOUR_MS);
  state.next = unavailable('ingest');
  expect(await thrownBy(old)).toBe(state.next);
  jest.advanceTimersByTime(1_000);
  expect(await thrownBy(old)).toBeInstanceOf(Postponed);
  // Others are handled meanwhile.
  state.next = undefined;
  expect(await thrownBy(greeted())).toBeNull();
  state.next = unavailable('ingest');
  expect(await thrownBy(old)).toBe(state.next);
  jest.advanceTimersByTime(25 * HOUR_MS);
  expect(await thrownBy(old)).toBe(state.next);
});
