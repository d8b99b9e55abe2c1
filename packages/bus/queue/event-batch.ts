import { randomUUID } from 'node:crypto';
import { type Event, fromWire, Uuid, type WireEvent } from '@call-analysis/events';
import type { JobInsert } from 'pg-boss';
import { z } from 'zod';
import { jsonOf, mayBeUnstorable, pack, packBatch, unpackBatch } from '../encoding/stored-event.ts';
import { LARGEST_INT } from './consumer-queue.ts';

/**
 * The most events in one job. PostgreSQL takes 185 µs to insert, fetch and delete a job of any size; every event beyond
 * the first saves that.
 */
export const BATCH_EVENTS = 25;

/** The most characters of JSON in one job, unless a single event has more; deflated, some 64 KB. */
const BATCH_CHARACTERS = 200_000;

const STATEMENT_JOBS = 1_000;
const STATEMENT_CHARACTERS = 4 * 1024 * 1024;

/** The fields that an event in a batch needs to become a job. Everything else is validated there. */
const BatchedEvents = z.array(z.looseObject({ id: Uuid, firmuuid: z.string().min(1), turn: z.int() })).min(1);

export interface NewJob {
  readonly job: JobInsert;
  /** The approximate length of its data. */
  readonly characters: number;
}

/** Groups consecutive events of one firm and priority into jobs of at most `most` events. */
export function* jobsOf(events: readonly Event[], most = BATCH_EVENTS): Generator<NewJob> {
  let batch: Event[] = [];
  let jsons: string[] = [];
  let room = BATCH_CHARACTERS;
  for (const event of events) {
    const json = most > 1 ? jsonOf(event) : '';
    // Events that jsonb refuses are stored deflated, and a batch is deflated only from a certain length.
    const alone = mayBeUnstorable(json);
    const [first] = batch;
    const related = first?.firmuuid === event.firmuuid && first.priority === event.priority;
    if (first !== undefined && (alone || !related || batch.length >= most || json.length > room)) {
      yield jobOf(batch, jsons);
      batch = [];
      jsons = [];
      room = BATCH_CHARACTERS;
    }
    batch.push(event);
    jsons.push(json);
    room = alone ? 0 : room - json.length;
  }
  if (batch.length > 0) yield jobOf(batch, jsons);
}

/** Groups events into jobs, and jobs into lists that one INSERT statement should carry. */
export function* jobListsOf(events: readonly Event[]): Generator<JobInsert[]> {
  let jobs: JobInsert[] = [];
  let characters = 0;
  for (const { job, characters: length } of jobsOf(events)) {
    if (jobs.length === STATEMENT_JOBS || (jobs.length > 0 && characters + length > STATEMENT_CHARACTERS)) {
      yield jobs;
      jobs = [];
      characters = 0;
    }
    jobs.push(job);
    characters += length;
  }
  if (jobs.length > 0) yield jobs;
}

function jobOf(events: readonly Event[], jsons: readonly string[]): NewJob {
  const [first] = events;
  if (first === undefined) throw new Error('A job holds at least one event.');
  const { id, firmuuid, priority } = first;
  if (events.length === 1) {
    const { stored, characters } = pack(first);
    // Consumer and job id are the table's key: an event that waits already is not inserted again.
    return { job: { id, data: stored, priority: -priority, group: { id: firmuuid } }, characters };
  }
  const { stored, characters } = packBatch(events, `[${jsons.join()}]`);
  const job = {
    id: randomUUID(),
    data: stored,
    priority: -priority,
    // Tiers limit nothing here; this one records the number of events.
    group: { id: firmuuid, tier: String(events.length) },
    // A batch whose worker was lost is split into its events. Only those can be given up.
    retryLimit: LARGEST_INT,
  };
  return { job, characters };
}

/** The data and tier of a job when only these of its events remain. */
export function rebatched(wireEvents: readonly WireEvent[]): { stored: object; tier: string } {
  const events = wireEvents.map(fromWire);
  return { stored: packBatch(events, `[${events.map(jsonOf).join()}]`).stored, tier: String(events.length) };
}

/**
 * The events of a stored batch in their stored form, with bodies and most attributes unvalidated; undefined if it is no
 * batch.
 */
export function readBatch(stored: unknown): readonly WireEvent[] | undefined {
  const events = BatchedEvents.safeParse(unpackBatch(stored));
  return events.success ? (events.data as unknown as WireEvent[]) : undefined;
}
