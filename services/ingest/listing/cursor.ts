import { createHmac, timingSafeEqual } from 'node:crypto';
import { type CallFilter, filterToStore, type Position, type Sort } from './call-filter.ts';

const MAC_BYTES = 16;
const UUID_BYTES = 16;
/** The uuid, the start time as a double of Unix milliseconds, and the score in tenths as an int16. */
const POSITION_BYTES = UUID_BYTES + 8 + 2;

/** Signed also where they match every call, as in the first releases, whose cursors stay valid. */
const SIGNED_ALWAYS = {
  status: [],
  outcome: [],
  segmentType: [],
  direction: [],
  operatorName: null,
  operatorGroupName: null,
  partnerCallId: null,
  batch: null,
  campaign: null,
  source: null,
  startedFrom: null,
  startedTo: null,
  scoreMin: null,
  scoreMax: null,
  q: null,
};

interface CursorScope {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  readonly sort: Sort;
}

/**
 * Encodes a position as an opaque cursor. It is signed together with the firm, the filter and the sort, so that a
 * client can neither forge a cursor nor use it for another listing.
 */
export function sealCursor(key: Uint8Array, scope: CursorScope, position: Position): string {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.write(position.uuid.replaceAll('-', ''), 'hex');
  bytes.writeDoubleBE(position.startTime.getTime(), UUID_BYTES);
  bytes.writeInt16BE(position.score, UUID_BYTES + 8);
  return Buffer.concat([bytes, macOf(key, scope, bytes)]).toString('base64url');
}

/** Null when the cursor is not valid for this listing. */
export function openCursor(key: Uint8Array, scope: CursorScope, cursor: string): Position | null {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== POSITION_BYTES + MAC_BYTES || bytes.toString('base64url') !== cursor) return null;
  const position = bytes.subarray(0, POSITION_BYTES);
  if (!timingSafeEqual(macOf(key, scope, position), bytes.subarray(POSITION_BYTES))) return null;
  const hex = position.toString('hex', 0, UUID_BYTES);
  return {
    uuid: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    startTime: new Date(position.readDoubleBE(UUID_BYTES)),
    score: position.readInt16BE(UUID_BYTES + 8),
  };
}

function macOf(key: Uint8Array, { firmUuid, filter, sort }: CursorScope, position: Buffer): Buffer {
  // Sorted, because the order of alternatives in a filter makes no difference.
  const fields = Object.entries({ ...SIGNED_ALWAYS, ...filterToStore(filter) })
    .map(([name, value]: [string, unknown]) => [name, Array.isArray(value) ? [...new Set(value)].sort() : value])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  const signed = JSON.stringify([firmUuid, fields, sort.by, sort.isDescending]);
  return createHmac('sha256', key).update(signed).update('\0').update(position).digest().subarray(0, MAC_BYTES);
}
