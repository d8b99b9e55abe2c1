import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Event, fromWire, toWire, type WireEvent } from '@call-analysis/events';

// The forms in which events are stored. Stored data of earlier releases must stay readable: the names `parcel`, `subjects`
// and `deflated`, and those of WireEvent, never change.

/**
 * The number of characters of JSON from which it is stored compressed. PostgreSQL takes 340 µs to store a body of 6 KB as
 * jsonb, and 40 µs to store the 1.6 KB to which deflate compresses it in 37 µs (zstd takes 80 µs for the same size).
 */
const DEFLATED_FROM = 1_500;
const DEFLATE_OPTIONS = { level: 1 };

interface Packed {
  readonly stored: object;
  readonly characters: number;
}

// PostgreSQL's jsonb takes neither NUL nor half a surrogate pair.
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** Whether jsonb may refuse this JSON. Also true for text that merely quotes such an escape, which does no harm. */
export function mayBeUnstorable(json: string): boolean {
  return UNSTORABLE.test(json);
}

/** An event as queues store it: plain, or with its body in `deflated` (base64 of JSON in raw deflate). */
export function pack(event: Event): Packed {
  const json = JSON.stringify(event.data);
  const wire = toWire(event);
  if (json === undefined || (json.length < DEFLATED_FROM && !mayBeUnstorable(json))) {
    return { stored: wire, characters: json?.length ?? 0 };
  }
  const { data: _, ...attributes } = wire;
  const deflated = deflate(json);
  return { stored: { ...attributes, deflated }, characters: deflated.length };
}

/** Restores the body of an event that `pack` deflated. Returns anything else unchanged, to be validated by the caller. */
export function unpack(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || !('deflated' in stored) || typeof stored.deflated !== 'string')
    return stored;
  const { deflated, ...attributes } = stored;
  try {
    return { ...attributes, data: inflate(deflated) };
  } catch {
    return stored;
  }
}

/**
 * An event batch as queues store it: `parcel` is the list of events, or its JSON deflated. `subjects` lists the events'
 * subjects, so that the events of one subject are found without unpacking every batch. `json` is the list as JSON.
 */
export function packBatch(events: readonly Event[], json: string): Packed {
  const subjects = [...new Set(events.map(({ subject }) => subject))];
  if (json.length < DEFLATED_FROM) return { stored: { parcel: events.map(toWire), subjects }, characters: json.length };
  const deflated = deflate(json);
  return { stored: { parcel: deflated, subjects }, characters: deflated.length };
}

/** The list that `packBatch` was given, in its stored form; undefined for anything else. */
export function unpackBatch(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || !('parcel' in stored)) return undefined;
  const { parcel: batch } = stored;
  if (typeof batch !== 'string') return batch;
  try {
    return inflate(batch);
  } catch {
    return undefined;
  }
}

/** The JSON of an event in its stored form. */
export function jsonOf(event: Event): string {
  return JSON.stringify(toWire(event));
}

/** The JSON of a list of events as text that any column takes: unchanged when short, otherwise base64 of raw deflate. */
export function packList(json: string): string {
  return json.length < DEFLATED_FROM ? json : deflate(json);
}

/** The events whose JSON `packList` was given. */
export function unpackList(text: string): Event[] {
  return ((text.startsWith('[') ? JSON.parse(text) : inflate(text)) as WireEvent[]).map(fromWire);
}

function deflate(json: string): string {
  return deflateRawSync(json, DEFLATE_OPTIONS).toString('base64');
}

function inflate(deflated: string): unknown {
  return JSON.parse(inflateRawSync(Buffer.from(deflated, 'base64')).toString());
}
