import { randomUUID } from 'node:crypto';
import { type Event, type EventType, eventType } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { BusPlace } from './index.ts';
import type { DeadLetters, DeadLetterFilter } from '../dead-letters.ts';
import { openDeadLetters } from '../open-dead-letters.ts';
import { openBus } from '../open.ts';
import { type Bus, Poison, route } from '../port.ts';
import type { Log } from '../queue/queues.ts';
import { type Body, happened } from '../test/events.ts';

const silent: Log = { info() {}, warn() {}, error() {} };
/** More than are replayed at once. */
const MANY = 130;

/** What everybody who looks after dead letters may rely on, whatever carries the facts. */
export function deadLetterSuite(name: string, open: () => Promise<BusPlace>): void {
  describe(`dead letters: ${name}`, () => {
    let place: BusPlace;
    let bus: Bus;
    let office: DeadLetters;
    let count = 0;

    beforeAll(async () => {
      place = await open();
      bus = await openBus(place.config, { name: 'test', log: silent });
      office = await openDeadLetters(place.config, { name: 'test', log: silent });
    }, 240_000);
    afterAll(async () => {
      await office?.close();
      await bus?.close();
      await place?.close();
    });

    const publish = async (...events: Event[]) => {
      await waitUntil(() => bus.ready().then(() => true));
      await place.transaction((tx) => bus.publish(tx, events));
    };
    const numbered = (which: DeadLetterFilter) =>
      office.list(which, 100).then((letters) => letters.map(({ id }) => id));

    /** A consumer that takes nothing while it is ill, and another that hears the same. */
    async function consumers() {
      count += 1;
      const Happened = eventType(`test.died-${count}.v1`, z.object({ n: z.int() }));
      const consumer = `test.mortal-${count}`;
      const patient = { isIll: true, heard: [] as Event[], othersHeard: [] as Event[], told: 0 };
      await bus.subscribe({
        consumer,
        retries: 0,
        batchSize: 25,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              const { n } = events[0]!.data;
              if (patient.isIll) throw n % 2 === 0 ? new Poison('EVEN', `${n} is even`) : new Error('no room');
              patient.heard.push(...events);
            },
            async giveUp() {
              patient.told += 1;
            },
          }),
        ],
      });
      await bus.subscribe({
        consumer: `${consumer}.neighbour`,
        routes: [
          route<Body>({
            event: Happened,
            async handle(events) {
              patient.othersHeard.push(...events);
            },
          }),
        ],
      });
      return { Happened, consumer, patient };
    }

    it('are listed newest first, with who gave them up, why and when, and without their bodies', async () => {
      const { Happened, consumer, patient } = await consumers();
      const began = Date.now();
      const [one, two] = [ofNewFirm(Happened, 1), ofNewFirm(Happened, 2)];
      await publish(one);
      await waitUntil(async () => (await numbered({ consumer })).length === 1);
      await publish(two);
      await waitUntil(async () => (await numbered({ consumer })).length === 2);
      const letters = await office.list({ consumer }, 100);
      expect(letters).toEqual([
        { ...of(two), consumer, code: 'EVEN', message: '2 is even', attempts: 1, at: expect.any(Date) },
        { ...of(one), consumer, code: 'INTERNAL', message: 'no room', attempts: 1, at: expect.any(Date) },
      ]);
      for (const { at } of letters) expect(Math.abs(at.getTime() - began)).toBeLessThan(60_000);
      expect(patient.told).toBe(2);
    });

    it('are found by event, consumer, type, firm and reason, and no more are shown than were asked for', async () => {
      const { Happened, consumer } = await consumers();
      const [one, two, three] = [ofNewFirm(Happened, 1), ofNewFirm(Happened, 2), ofNewFirm(Happened, 3)];
      await publish(one, two, three);
      await waitUntil(async () => (await numbered({ consumer })).length === 3);
      expect(await numbered({ ids: [one.id, three.id, randomUUID()] })).toEqual(
        expect.arrayContaining([one.id, three.id]),
      );
      expect((await numbered({ type: Happened.type })).toSorted()).toEqual([one.id, two.id, three.id].toSorted());
      expect(await numbered({ firmUuid: two.firmuuid })).toEqual([two.id]);
      expect(await numbered({ consumer, code: 'EVEN' })).toEqual([two.id]);
      expect(await numbered({ consumer: `${consumer}.neighbour` })).toEqual([]);
      expect(await office.list({ consumer }, 2)).toHaveLength(2);
    });

    it('that are replayed go to the consumer that gave them up and to no other, whole, and are listed no more', async () => {
      const { Happened, consumer, patient } = await consumers();
      const [one, two] = [ofNewFirm(Happened, 1), ofNewFirm(Happened, 2)];
      await publish(one, two);
      await waitUntil(async () => (await numbered({ consumer })).length === 2 && patient.othersHeard.length === 2);
      patient.isIll = false;
      expect(await office.replay({ ids: [one.id] })).toEqual({ replayed: 1, published: 0 });
      await waitUntil(() => patient.heard.length === 1);
      expect(await numbered({ consumer })).toEqual([two.id]);
      expect(await office.replay({ consumer, code: 'INTERNAL' })).toEqual({ replayed: 0, published: 0 });
      expect(await office.replay({ consumer, code: 'EVEN' })).toEqual({ replayed: 1, published: 0 });
      await waitUntil(() => patient.heard.length === 2);
      expect(await numbered({ consumer })).toEqual([]);
      const attributes = ({ id, type, subject, firmuuid, source, time, data }: Event) => ({
        id,
        type,
        subject,
        firmuuid,
        source,
        time,
        data,
      });
      expect(patient.heard.map(attributes)).toEqual([one, two].map(attributes));
      expect(patient.othersHeard).toHaveLength(2);
    });

    it('that die again are told of again and listed again', async () => {
      const { Happened, consumer, patient } = await consumers();
      const event = ofNewFirm(Happened, 2);
      await publish(event);
      await waitUntil(async () => (await numbered({ consumer })).length === 1);
      expect(await office.replay({ consumer })).toEqual({ replayed: 1, published: 0 });
      await waitUntil(async () => patient.told === 2 && (await numbered({ consumer })).length === 1);
      expect(await numbered({ consumer })).toEqual([event.id]);
    });

    it('may be replayed by telling something else in their place', async () => {
      const { Happened, consumer, patient } = await consumers();
      const event = ofNewFirm(Happened, 4);
      await publish(event);
      await waitUntil(async () => (await numbered({ consumer })).length === 1);
      patient.isIll = false;
      const other = ofNewFirm(Happened, 5);
      const seen: [Event, string][] = [];
      const replayed = await office.replay({ consumer }, (each, who) => {
        seen.push([each, who]);
        return { redeliver: false, publish: [other] };
      });
      expect(replayed).toEqual({ replayed: 1, published: 1 });
      expect(seen).toEqual([[expect.objectContaining({ id: event.id, data: { n: 4 } }), consumer]]);
      await waitUntil(() => patient.heard.length === 1 && patient.othersHeard.length === 2);
      expect(patient.heard[0]).toMatchObject({ id: other.id, data: { n: 5 } });
      expect(await numbered({ consumer })).toEqual([]);
    });

    it('by the hundreds are all replayed, each once', async () => {
      const { Happened, consumer, patient } = await consumers();
      const events = Array.from({ length: MANY }, (_, n) => ofNewFirm(Happened, n));
      await publish(...events);
      await waitUntil(async () => (await office.list({ consumer }, 1000)).length === MANY, {
        timeoutMs: 150_000,
        everyMs: 500,
      });
      patient.isIll = false;
      expect(await office.replay({ consumer })).toEqual({ replayed: MANY, published: 0 });
      await waitUntil(() => patient.heard.length >= MANY, { timeoutMs: 100_000 });
      expect(new Set(patient.heard.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)));
      expect(patient.heard).toHaveLength(MANY);
    }, 300_000);
  });
}

/** Each is of a firm of its own. */
function ofNewFirm(type: EventType, n: number): Event<Body> {
  return happened(type, n, { firmuuid: randomUUID() });
}

function of({ id, type, subject, firmuuid }: Event): object {
  return { id, type, subject, firmUuid: firmuuid };
}
