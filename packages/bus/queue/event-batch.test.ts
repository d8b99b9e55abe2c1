import { randomUUID } from 'node:crypto';
import { type Event, fromWire, toWire, type WireEvent } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { unpack } from '../encoding/stored-event.ts';
import { BATCH_EVENTS, jobsOf, readBatch } from './event-batch.ts';

const firms = [randomUUID(), randomUUID()] as const;

const event = (firm: number, priority: number, data: unknown): Event => ({
  id: randomUUID(),
  source: 'test',
  type: 'thing.happened.v1',
  time: '2026-10-01T00:00:00.000Z',
  subject: 'thing',
  firmuuid: firms[firm] ?? firms[0],
  priority,
  data,
});

/** The data as the database returns it. */
const stored = (data: unknown) => JSON.parse(JSON.stringify(data)) as unknown;

describe('jobs', () => {
  it('hold every event once and in order, of one firm and priority, within the limits', () => {
    const some = fc.array(fc.tuple(fc.nat(1), fc.nat(1), fc.constantFrom('', 'x'.repeat(90_000), '\u0000')), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 30 }), (drawn, most) => {
        const events = drawn.map(([firm, priority, text]) => event(firm, priority, text));
        const jobs = [...jobsOf(events, most)].map(({ job }) => {
          const data = stored(job.data);
          return { job, events: (readBatch(data) ?? [unpack(data) as WireEvent]).map(fromWire) };
        });
        expect(jobs.flatMap((each) => each.events)).toEqual(events);
        for (const { job, events: held } of jobs) {
          expect(held.length).toBeLessThanOrEqual(most);
          expect(JSON.stringify(held).length).toBeLessThan(210_000);
          expect(held.every(({ firmuuid, priority }) => firmuuid === job.group?.id && -priority === job.priority)).toBe(
            true,
          );
          expect(held.length > 1 ? job.group?.tier : '1').toBe(String(held.length));
          if (held.length > 1) expect(held.some(({ data }) => data === '\u0000')).toBe(false);
        }
      }),
    );
  });

  it('are few for events of one firm and priority', () => {
    const events = Array.from({ length: 10 * BATCH_EVENTS }, (_, n) =>
      event(0, 0, { n, text: 'some words '.repeat(500) }),
    );
    expect([...jobsOf(events)]).toHaveLength(10);
  });

  it('of a single event have its data and its id', () => {
    const lone = event(0, 3, { n: 1 });
    expect([...jobsOf([lone])]).toMatchObject([{ job: { id: lone.id, data: toWire(lone), group: { id: firms[0] } } }]);
  });
});

it('what is no event batch is not read as one', () => {
  const bad = [
    null,
    'text',
    { parcel: [] },
    { parcel: [1] },
    { parcel: 'damaged' },
    { parcel: [{ id: 'x' }] },
    event(0, 0, 1),
  ];
  for (const data of bad) expect(readBatch(data)).toBeUndefined();
});
