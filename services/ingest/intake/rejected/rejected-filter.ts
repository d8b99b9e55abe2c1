/** Two hashes of 32 bits. */
export type RowKey = readonly [number, number];

/** The values that identify a copy of a call in an uploaded file. */
export interface CallIdentity {
  readonly firmUuid: string;
  readonly partnerCallId: string | null;
  readonly phone: string;
  readonly startTime: Date;
  /** An uploaded transcript, as it was sent. */
  readonly text: string | null;
}

/** A piece of a Bloom filter. A key belongs to segment `key[0] % segments`. */
export interface FilterSegment {
  readonly segment: number;
  readonly segments: number;
  readonly bits: Buffer;
}

/** Bits that each key sets. With 20 bits a key, one look-up of 7,000 is a false hit. */
export const PROBES = 8;
const BITS_PER_KEY = 20;
const KEYS_PER_SEGMENT = 800;
const MIN_BYTES = 8;

/**
 * The key under which a rejected row is found: a hash of its partner_call_id, or without one of its phone number and
 * text together. Rows with equal keys may still differ, in their start time for example.
 */
export function rowKeys(names: readonly string[]): (fields: readonly string[]) => RowKey {
  const normalized = names.map((name) => name.trim().toLowerCase());
  const [id, phone, text] = ['partner_call_id', 'client_phone_number', 'anonymized_text'].map((name) =>
    normalized.indexOf(name),
  ) as [number, number, number];
  return (fields) => {
    const value = (position: number) => fields[position]?.trim() ?? '';
    const rowId = value(id);
    return rowId === '' ? hash(`c${value(phone)}\0${value(text)}`) : hash(`i${rowId}`);
  };
}

/** The keys of the rows that may be copies of a call. */
export function keysOfCopies({ partnerCallId, phone, text }: CallIdentity): RowKey[] {
  const content = hash(`c${phone}\0${text ?? ''}`);
  return partnerCallId === null ? [content] : [hash(`i${partnerCallId}`), content];
}

/** A filter over these keys. */
export function filterOf(keys: readonly RowKey[]): FilterSegment[] {
  const segments = Math.max(1, Math.ceil(keys.length / KEYS_PER_SEGMENT));
  const bytes = Math.max(MIN_BYTES, Math.ceil((Math.min(keys.length, KEYS_PER_SEGMENT) * BITS_PER_KEY) / 8));
  const filter = Array.from({ length: segments }, (_, segment) => ({ segment, segments, bits: Buffer.alloc(bytes) }));
  for (const key of keys) {
    const { bits } = filter[key[0] % segments]!;
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = (key[0] + probe * key[1]) % (bytes * 8);
      // The order of bits of PostgreSQL's get_bit.
      bits[bit >> 3]! |= 1 << (bit & 7);
    }
  }
  return filter;
}

/** FNV-1a with two offsets, and a final mix, without which short texts would differ in few bits. */
function hash(text: string): RowKey {
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x85ebca6b);
  }
  return [mix(first), mix(second)];
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
