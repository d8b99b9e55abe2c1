import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { route } from '../port.ts';
import { collectInto } from '../test/handlers.ts';
import { startHangingWorker } from '../test/hanging-worker.ts';
import { type Body, newEvent, numberOf, numbers } from '../test/new-event.ts';
import type { Fixture } from './fixture.ts';

// Long enough that a worker which pauses for some seconds on a busy machine does not lose its lease.
const leaseSeconds = 15;
const LONGER_THAN_LEASE_MS = 22_000;
const patience = { timeoutMs: 100_000 };

/** The results of tests that take longer than a lease. They run while the other tests do. */
export interface LeaseResults {
  /** The number of calls of a handler that runs longer than its lease. */
  readonly outlived: Promise<number>;
  /** The numbers of the events that the successor of a killed worker receives. */
  readonly lapsed: Promise<Set<number>>;
  /** The same for a worker that was handling ten events together. */
  readonly lapsedTogether: Promise<Set<number>>;
}

export function startLeaseTests(fixture: Fixture): LeaseResults {
  const leases = {
    outlived: outliveLease(fixture),
    lapsed: takeOver(fixture, 1),
    lapsedTogether: takeOver(fixture, 10),
  };
  // The tests that await the results run later; until then a rejection would be unhandled.
  for (const each of Object.values(leases)) each.catch(() => {});
  return leases;
}

async function takeOver(
  { newConsumer, openLasting, publish, arrived, transport }: Fixture,
  events: number,
): Promise<Set<number>> {
  const { Happened, consumer } = newConsumer();
  const received: Event[] = [];
  const successor = await openLasting({ leaseSeconds });
  const routes = [route<Body>({ event: Happened, handle: collectInto(received) })];
  await (await successor.subscribe({ consumer, routes })).stop();
  await publish(...Array.from({ length: events }, (_, n) => newEvent(Happened, n)));
  await arrived(successor);
  const options = { leaseSeconds, batchSize: events };
  const victim = await startHangingWorker(transport.config, consumer, Happened.type, options);
  await successor.subscribe({ consumer, routes });
  await victim.kill();
  const numbersReceived = () => new Set(received.map(numberOf));
  await waitUntil(() => numbersReceived().size === events, patience);
  return numbersReceived();
}

/** Repeated with another event if the machine itself paused for longer than the lease. */
async function outliveLease({ newConsumer, openLasting, publish }: Fixture): Promise<number> {
  const { Happened, consumer } = newConsumer();
  const attempts = numbers(5).map(() => ({ begun: 0, done: false }));
  const routes = [
    route<Body>({
      event: Happened,
      async handle([event]) {
        const attempt = attempts[numberOf(event!)]!;
        attempt.begun += 1;
        await pause(LONGER_THAN_LEASE_MS);
        attempt.done = true;
      },
    }),
  ];
  for (const bus of [await openLasting({ leaseSeconds }), await openLasting({ leaseSeconds })])
    await bus.subscribe({ consumer, routes });
  for (const [n, attempt] of attempts.entries()) {
    await publish(newEvent(Happened, n));
    await waitUntil(() => attempt.done, patience);
    if (attempt.begun === 1) break;
  }
  return attempts.findLast(({ done }) => done)!.begun;
}
