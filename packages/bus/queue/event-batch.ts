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

/**
 * Groups consecutive items into lists of at most `count` items. The sizes of a list add up to at most `total`, unless a
 * single item is larger, and `goesWith` holds for its first item and each other one.
 */
export function* listsOf<Item>(
  items: Iterable<Item>,
  { sizeOf, total, count = Infinity, goesWith = () => true }: ListBounds<Item>,
): Generator<Item[]> {
  let list: Item[] = [];
  let sum = 0;
  for (const item of items) {
    const size = sizeOf(item);
    const [first] = list;
    if (first !== undefined && (list.length === count || sum + size > total || !goesWith(first, item))) {
      yield list;
      list = [];
      sum = 0;
    }
    list.push(item);
    sum += size;
  }
  if (list.length > 0) yield list;
}

interface ListBounds<Item> {
  readonly sizeOf: (item: Item) => number;
  readonly total: number;
  readonly count?: number;
  readonly goesWith?: (first: Item, other: Item) => boolean;
}

interface WrittenEvent {
  readonly event: Event;
  readonly json: string;
  /** Events that jsonb refuses are stored deflated, and a batch is deflated only from a certain length. */
  readonly isAlone: boolean;
}

/** Groups consecutive events of one firm and priority into jobs of at most `most` events. */
export function* jobsOf(events: readonly Event[], most = BATCH_EVENTS): Generator<NewJob> {
  const written = events.values().map((event): WrittenEvent => {
    const json = most > 1 ? jsonOf(event) : '';
    return { event, json, isAlone: mayBeUnstorable(json) };
  });
  const bounds = { sizeOf: ({ json }: WrittenEvent) => json.length, total: BATCH_CHARACTERS, count: most, goesWith };
  for (const batch of listsOf(written, bounds)) yield jobOf(batch);
}

function goesWith(one: WrittenEvent, other: WrittenEvent): boolean {
  const isRelated = one.event.firmuuid === other.event.firmuuid && one.event.priority === other.event.priority;
  return isRelated && !one.isAlone && !other.isAlone;
}

/** Groups events into jobs, and jobs into lists that one INSERT statement should carry. */
export function* jobListsOf(events: readonly Event[]): Generator<JobInsert[]> {
  const sizeOf = ({ characters }: NewJob) => characters;
  for (const jobs of listsOf(jobsOf(events), { sizeOf, total: STATEMENT_CHARACTERS, count: STATEMENT_JOBS }))
    yield jobs.map(({ job }) => job);
}

function jobOf(batch: readonly WrittenEvent[]): NewJob {
  const events = batch.map(({ event }) => event);
  const { id, firmuuid, priority } = events[0]!;
  if (events.length === 1) {
    const { stored, characters } = pack(events[0]!);
    // Consumer and job id are the table's key: an event that waits already is not inserted again.
    return { job: { id, data: stored, priority: -priority, group: { id: firmuuid } }, characters };
  }
  const { stored, characters } = packBatch(events, `[${batch.map(({ json }) => json).join()}]`);
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
