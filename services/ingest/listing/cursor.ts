import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CallFilter, Place, Sort } from '../store/index.ts';

const MAC_BYTES = 16;
const UUID_BYTES = 16;
/** Time in Unix milliseconds, score in tenths. */
const PLACE_BYTES = UUID_BYTES + 8 + 2;

/** What a cursor is good for. */
export interface Walk {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  readonly sort: Sort;
}

/**
 * A place as clients carry it: opaque, and signed together with whose calls are walked, by which filter and in which
 * order, so that it can neither be made up nor be carried over to another walk.
 */
export function sealCursor(key: Uint8Array, walk: Walk, place: Place): string {
  const bytes = Buffer.alloc(PLACE_BYTES);
  bytes.write(place.uuid.replaceAll('-', ''), 'hex');
  bytes.writeDoubleBE(place.startTime.getTime(), UUID_BYTES);
  bytes.writeInt16BE(place.score, UUID_BYTES + 8);
  return Buffer.concat([bytes, macOf(key, walk, bytes)]).toString('base64url');
}

/** Null when it is none of ours, or of another walk. */
export function openCursor(key: Uint8Array, walk: Walk, cursor: string): Place | null {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== PLACE_BYTES + MAC_BYTES || bytes.toString('base64url') !== cursor) return null;
  const place = bytes.subarray(0, PLACE_BYTES);
  if (!timingSafeEqual(macOf(key, walk, place), bytes.subarray(PLACE_BYTES))) return null;
  const hex = place.toString('hex', 0, UUID_BYTES);
  return {
    uuid: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    startTime: new Date(place.readDoubleBE(UUID_BYTES)),
    score: place.readInt16BE(UUID_BYTES + 8),
  };
}

function macOf(key: Uint8Array, { firmUuid, filter, sort }: Walk, place: Buffer): Buffer {
  // The order in which alternatives are named makes no difference.
  const named = Object.entries(filter)
    .map(([name, value]: [string, unknown]) => [name, Array.isArray(value) ? [...new Set(value)].sort() : value])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  const about = JSON.stringify([firmUuid, named, sort.by, sort.isDescending]);
  return createHmac('sha256', key).update(about).update('\0').update(place).digest().subarray(0, MAC_BYTES);
}
