import { hasText } from '../reading/bytes.ts';
import type { Source } from '../recording.ts';

/** Enough for a file that was tagged many times. The search for the first frame skips a longer chain. */
const MAX_TAGS = 64;
const ID3V1_BYTES = 128;
const ID3V1_EXTENDED_BYTES = 227;
const APE_BYTES = 32;

/** The range that may hold the frames of an MP3: after the tags at the beginning and before those at the end. */
export async function audioBounds(source: Source): Promise<{ start: number; end: number }> {
  const start = await endOfLeadingTags(source);
  return { start, end: await startOfTrailingTags(source, start) };
}

/** The size of the ID3v2 tag at the beginning, footer included; 0 when there is none. */
export function id3v2Bytes(bytes: Uint8Array): number {
  if (!hasText(bytes, 0, 'ID3')) return 0;
  const [major, revision, flags] = bytes.subarray(3);
  const body = syncSafe(bytes, 6);
  if (major === undefined || revision === undefined || flags === undefined || body === null) return 0;
  if (major === 0xff || revision === 0xff) return 0;
  const footer = (flags & 0x10) !== 0 ? 10 : 0;
  return 10 + body + footer;
}

/** The size of the APE tag whose header is at the beginning; 0 when there is none. */
export function apeBytes(bytes: Uint8Array): number {
  if (!hasText(bytes, 0, 'APETAGEX') || bytes.length < APE_BYTES) return 0;
  return APE_BYTES + u32le(bytes, 12);
}

async function endOfLeadingTags(source: Source): Promise<number> {
  let start = 0;
  for (let count = 0; count < MAX_TAGS; count++) {
    const head = await source.read(start, start + APE_BYTES);
    const length = id3v2Bytes(head) || apeBytes(head);
    if (length === 0) break;
    start = Math.min(start + length, source.sizeBytes);
  }
  return start;
}

async function startOfTrailingTags(source: Source, start: number): Promise<number> {
  let end = source.sizeBytes;
  for (let count = 0; count < MAX_TAGS; count++) {
    const tail = await source.read(Math.max(start, end - ID3V1_BYTES - ID3V1_EXTENDED_BYTES), end);
    const length = trailingTagBytes(tail);
    if (length === 0 || length > end - start) break;
    end -= length;
  }
  return end;
}

/** The size of the tag at the end; 0 when there is none. Lyrics are left to the search for frames: such a file is counted frame by frame. */
function trailingTagBytes(tail: Uint8Array): number {
  const id3v1 = tail.length - ID3V1_BYTES;
  if (id3v1 >= 0 && hasText(tail, id3v1, 'TAG')) {
    const extended = id3v1 - ID3V1_EXTENDED_BYTES;
    return extended >= 0 && hasText(tail, extended, 'TAG+') ? ID3V1_BYTES + ID3V1_EXTENDED_BYTES : ID3V1_BYTES;
  }
  const ape = tail.length - APE_BYTES;
  if (ape >= 0 && hasText(tail, ape, 'APETAGEX')) {
    const hasHeader = u32le(tail, ape + 20) >>> 31 === 1;
    return u32le(tail, ape + 12) + (hasHeader ? APE_BYTES : 0);
  }
  const id3v2 = tail.length - 10;
  if (id3v2 >= 0 && hasText(tail, id3v2, '3DI')) {
    const body = syncSafe(tail, id3v2 + 6);
    return body === null ? 0 : body + 20;
  }
  return 0;
}

/** Reads a number of four bytes with seven bits each; null when a byte has its highest bit set. */
function syncSafe(bytes: Uint8Array, at: number): number | null {
  let value = 0;
  for (let index = 0; index < 4; index++) {
    const byte = bytes[at + index];
    if (byte === undefined || byte > 0x7f) return null;
    value = value * 128 + byte;
  }
  return value;
}

function u32le(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(at, true);
}
