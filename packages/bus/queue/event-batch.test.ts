import { randomUUID } from 'node:crypto';
import type { Event } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { jobsOf, openParcel, PARCEL } from './event-batch.ts';
import { unpack } from '../encoding/stored-event.ts';

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

/** As it comes back from the database. */
const kept = (data: unknown) => JSON.parse(JSON.stringify(data)) as unknown;

describe('jobs', () => {
  it('hold every event once and in order, of one firm and one turn, not more than they may', () => {
    const some = fc.array(fc.tuple(fc.nat(1), fc.nat(1), fc.constantFrom('', 'x'.repeat(90_000), '\u0000')), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 30 }), (drawn, most) => {
        const events = drawn.map(([firm, priority, text]) => event(firm, priority, text));
        const jobs = [...jobsOf(events, most)].map(({ job }) => {
          const data = kept(job.data);
          return { job, events: openParcel(data) ?? [unpack(data) as Event] };
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

  it('are few when events are alike', () => {
    const events = Array.from({ length: 10 * PARCEL }, (_, n) => event(0, 0, { n, text: 'as before '.repeat(500) }));
    expect([...jobsOf(events)]).toHaveLength(10);
  });

  it('of a single event are the event, under its own id', () => {
    const lone = event(0, 3, { n: 1 });
    expect([...jobsOf([lone])]).toMatchObject([{ job: { id: lone.id, data: lone, group: { id: firms[0] } } }]);
  });
});

it('what is not a parcel of events is not opened as one', () => {
  const bad = [
    null,
    'parcel',
    { parcel: [] },
    { parcel: [1] },
    { parcel: 'torn' },
    { parcel: [{ id: 'x' }] },
    event(0, 0, 1),
  ];
  for (const stored of bad) expect(openParcel(stored)).toBeUndefined();
});
