import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Event, fromWire, toWire, type WireEvent } from '@call-analysis/events';
import { textOf } from './text.ts';

/**
 * Characters of JSON from which it is stored compressed. PostgreSQL takes 340 µs to store a body of 6 KB as jsonb and
 * 40 µs to store the 1.6 KB that are left of it; compressing takes 37 µs (zstd 80, for the same size).
 */
const COMPRESSED_FROM = 1_500;
const options = { level: 1 };

export interface Packed {
  readonly stored: object;
  readonly characters: number;
}

// PostgreSQL's jsonb takes neither NUL nor half a surrogate pair.
const unstorable = /\\u(?:0000|d[89a-f])/;

/** Whether jsonb may refuse this JSON. A text that speaks of such an escape is taken for one, which does no harm. */
export function mayBeUnstorable(json: string): boolean {
  return unstorable.test(json);
}

/** An event in the form that queues keep: itself, or with its body in `deflated` (base64 of JSON in raw deflate). */
export function pack(event: Event): Packed {
  const json = JSON.stringify(event.data);
  const wire = toWire(event);
  if (json === undefined || (json.length < COMPRESSED_FROM && !mayBeUnstorable(json))) {
    return { stored: wire, characters: json?.length ?? 0 };
  }
  const { data: _, ...attributes } = wire;
  const deflated = deflate(json);
  return { stored: { ...attributes, deflated }, characters: deflated.length };
}

/** What `pack` was given; anything else as it is, for others to judge. */
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
 * Several events in one: `parcel` is their list, or its JSON as `deflated` has it. `subjects` says what they are about,
 * so that those of one subject are found without opening every parcel.
 */
export function packParcel(events: readonly Event[], json: string): Packed {
  const subjects = [...new Set(events.map(({ subject }) => subject))];
  if (json.length < COMPRESSED_FROM)
    return { stored: { parcel: events.map(toWire), subjects }, characters: json.length };
  const parcel = deflate(json);
  return { stored: { parcel, subjects }, characters: parcel.length };
}

/** The list that `packParcel` was given; undefined for anything else. */
export function unpackParcel(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || !('parcel' in stored)) return undefined;
  const { parcel } = stored;
  if (typeof parcel !== 'string') return parcel;
  try {
    return inflate(parcel);
  } catch {
    return undefined;
  }
}

/** The JSON of an event in its stored form. */
export function jsonOf(event: Event): string {
  return JSON.stringify(toWire(event));
}

/** The JSON of a list of events, as text that any column takes: itself when short, else base64 of raw deflate. */
export function packList(json: string): string {
  return json.length < COMPRESSED_FROM ? json : deflate(json);
}

/** The list whose JSON `packList` was given. */
export function unpackList(text: string): Event[] {
  return ((text.startsWith('[') ? JSON.parse(text) : inflate(text)) as WireEvent[]).map(fromWire);
}

function deflate(json: string): string {
  return deflateRawSync(json, options).toString('base64');
}

/** As a rule so much larger; in pieces of 16 KiB, zlib's own, a parcel takes twice as long. */
const INFLATES_BY = 10;
const SMALLEST_PIECE = 16 * 1024;
const LARGEST_PIECE = 1024 * 1024;

function inflate(deflated: string): unknown {
  const bytes = Buffer.from(deflated, 'base64');
  const chunkSize = Math.min(Math.max(bytes.length * INFLATES_BY, SMALLEST_PIECE), LARGEST_PIECE);
  return JSON.parse(textOf(inflateRawSync(bytes, { chunkSize })));
}
