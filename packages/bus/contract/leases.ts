import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { route } from '../port.ts';
import { type Body, happened } from '../test/events.ts';
import { takeInto } from '../test/handlers.ts';
import { hangingWorker } from '../test/hanging-worker.ts';
import type { Stage } from './fixture.ts';

// So long that a worker which stands still for some seconds, as on a busy machine, does not lose what it has in hand.
const leaseSeconds = 15;
const longerThanLeaseMs = 22_000;
const patience = { timeoutMs: 100_000 };

/** What takes as long as a lease does, and therefore runs beside the other tests. */
export interface Leases {
  /** How often a handler was called that took longer than its lease. */
  readonly outlived: Promise<number>;
  /** What a successor heard of a worker that was killed with one event in hand. */
  readonly lapsed: Promise<Event[]>;
  /** The same of ten that it had together. */
  readonly lapsedTogether: Promise<Event[]>;
}

export function tryLeases(stage: Stage): Leases {
  const leases = { outlived: outlive(stage), lapsed: takeOver(stage, 1), lapsedTogether: takeOver(stage, 10) };
  // Their tests come later and would be too late to catch.
  for (const each of Object.values(leases)) each.catch(() => {});
  return leases;
}

async function takeOver({ newcomers, lasting, publish, arrived, place }: Stage, events: number): Promise<Event[]> {
  const { Happened, consumer } = newcomers();
  const heard: Event[] = [];
  const successor = await lasting({ leaseSeconds });
  const routes = [route<Body>({ event: Happened, handle: takeInto(heard) })];
  await (await successor.subscribe({ consumer, routes })).stop();
  await publish(...Array.from({ length: events }, (_, n) => happened(Happened, n)));
  await arrived(successor);
  const victim = await hangingWorker(place.config, consumer, Happened.type, { leaseSeconds, batchSize: events });
  await successor.subscribe({ consumer, routes });
  await victim.kill();
  await waitUntil(() => heard.length === events, patience);
  return heard;
}

async function outlive({ newcomers, lasting, publish }: Stage): Promise<number> {
  const { Happened, consumer } = newcomers();
  let tries = 0;
  let done = false;
  const routes = [
    route<Body>({
      event: Happened,
      async handle() {
        tries += 1;
        await pause(longerThanLeaseMs);
        done = true;
      },
    }),
  ];
  for (const one of [await lasting({ leaseSeconds }), await lasting({ leaseSeconds })])
    await one.subscribe({ consumer, routes });
  await publish(happened(Happened, 1));
  await waitUntil(() => done, patience);
  return tries;
}
