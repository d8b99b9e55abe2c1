import { randomUUID } from 'node:crypto';
import { type Event, fromWire, type WireEvent } from '@call-analysis/events';
import type { JobInsert } from 'pg-boss';
import { z } from 'zod';
import { jsonOf, mayBeUnstorable, pack, packParcel, unpackParcel } from '../encoding/stored-event.ts';

/**
 * Events in one job at most. PostgreSQL takes 185 µs to insert, fetch and delete a job, whatever it holds, and every
 * event beyond the first saves that.
 */
export const PARCEL = 25;

/** Characters of JSON in one job at most, unless a single event has more; deflated, some 64 KB. */
const parcelCharacters = 200_000;
const longestInt = 2 ** 31 - 1;

/** What an event in a parcel must have to become a job of its own; the rest is judged there. */
const Addressed = z.array(z.looseObject({ id: z.guid(), firmuuid: z.string().min(1), turn: z.int() })).min(1);

export interface StoredJob {
  readonly job: JobInsert;
  /** Of its data, about. */
  readonly characters: number;
}

/** Puts neighbours of one firm and one turn into jobs, not more than `most` into one. */
export function* jobsOf(events: readonly Event[], most = PARCEL): Generator<StoredJob> {
  let together: Event[] = [];
  let jsons: string[] = [];
  let room = parcelCharacters;
  for (const event of events) {
    const json = most > 1 ? jsonOf(event) : '';
    // What jsonb refuses has a form of its own, which a parcel has only when it is long enough.
    const alone = mayBeUnstorable(json);
    const [first] = together;
    const related = first?.firmuuid === event.firmuuid && first.priority === event.priority;
    if (first !== undefined && (alone || !related || together.length >= most || json.length > room)) {
      yield jobOf(together, jsons);
      together = [];
      jsons = [];
      room = parcelCharacters;
    }
    together.push(event);
    jsons.push(json);
    room = alone ? 0 : room - json.length;
  }
  if (together.length > 0) yield jobOf(together, jsons);
}

function jobOf(events: readonly Event[], jsons: readonly string[]): StoredJob {
  const [first] = events;
  if (first === undefined) throw new Error('A job holds at least one event.');
  const { id, firmuuid, priority } = first;
  if (events.length === 1) {
    const { stored, characters } = pack(first);
    // The queue's key is the consumer and this id: an event that is there already is left as it is.
    return { job: { id, data: stored, priority: -priority, group: { id: firmuuid } }, characters };
  }
  const { stored, characters } = packParcel(events, `[${jsons.join()}]`);
  const job = {
    id: randomUUID(),
    data: stored,
    priority: -priority,
    // Nothing is limited by tiers here; it says how many events these are.
    group: { id: firmuuid, tier: String(events.length) },
    // A parcel whose worker was lost is taken apart; only its events can be given up.
    retryLimit: longestInt,
  };
  return { job, characters };
}

/** A job's data and size once only these events of it are left. */
export function repacked(events: readonly Event[]): { stored: object; tier: string } {
  return { stored: packParcel(events, `[${events.map(jsonOf).join()}]`).stored, tier: String(events.length) };
}

/** What is in a parcel, its bodies and most attributes unparsed; undefined for anything else. */
export function openParcel(stored: unknown): readonly Event[] | undefined {
  const contents = Addressed.safeParse(unpackParcel(stored));
  return contents.success ? (contents.data as unknown as WireEvent[]).map(fromWire) : undefined;
}
