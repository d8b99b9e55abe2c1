import { unreadable } from '../faults.ts';
import type { BufferedReader } from '../reading/buffered-reader.ts';

/** The header of a page, which holds segments of one stream's packets (RFC 3533, section 6). */
export interface PageHeader {
  readonly serial: number;
  /** The first packet began on an earlier page. */
  readonly continued: boolean;
  /** The stream begins on this page. */
  readonly first: boolean;
  /** The granule position at the end of the last packet that ends on this page; null when none does. */
  readonly granule: number | null;
  /** Lengths of the segments. A packet ends with the first segment under 255 bytes. */
  readonly lacing: Uint8Array;
  readonly headerBytes: number;
  readonly sizeBytes: number;
}

export interface Page extends PageHeader {
  /** Offset in the file. */
  readonly offset: number;
  readonly body: Uint8Array;
}

const FIXED_BYTES = 27;
export const MAX_HEADER_BYTES = FIXED_BYTES + 255;
export const MAX_PAGE_BYTES = MAX_HEADER_BYTES + 255 * 255;

const CONTINUED = 1;
const FIRST = 2;
const CHECKSUM_AT = 22;

export function isPageStart(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x4f && bytes[at + 1] === 0x67 && bytes[at + 2] === 0x67 && bytes[at + 3] === 0x53;
}

/** Null when no page begins at `at`, or its header is incomplete. */
export function pageHeader(bytes: Uint8Array, at: number): PageHeader | null {
  if (!isPageStart(bytes, at) || at + FIXED_BYTES > bytes.length || bytes[at + 4] !== 0) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
  const flags = view.getUint8(5);
  const segments = view.getUint8(26);
  const headerBytes = FIXED_BYTES + segments;
  if (headerBytes > view.byteLength) return null;
  const lacing = bytes.subarray(at + FIXED_BYTES, at + headerBytes);
  let bodyBytes = 0;
  for (const length of lacing) bodyBytes += length;
  const granule = view.getBigInt64(6, true);
  return {
    serial: view.getUint32(14, true),
    continued: (flags & CONTINUED) !== 0,
    first: (flags & FIRST) !== 0,
    granule: granule === -1n ? null : Number(granule),
    lacing,
    headerBytes,
    sizeBytes: headerBytes + bodyBytes,
  };
}

/** Whether the page is complete and its checksum is right. */
export function isIntact(bytes: Uint8Array, at: number, { sizeBytes }: PageHeader): boolean {
  if (at + sizeBytes > bytes.length) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, sizeBytes);
  return view.getUint32(CHECKSUM_AT, true) === checksum(bytes, at, sizeBytes);
}

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1;
  return crc;
});

/** The CRC-32 of the page, computed with zeros in place of the checksum field. */
export function checksum(bytes: Uint8Array, at: number, length: number): number {
  let crc = 0;
  for (let index = 0; index < length; index++) {
    const byte = index >= CHECKSUM_AT && index < CHECKSUM_AT + 4 ? 0 : (bytes[at + index] as number);
    crc = (crc << 8) ^ (TABLE[(crc >>> 24) ^ byte] as number);
  }
  return crc >>> 0;
}

/**
 * Yields the pages of a file in order after checking their checksums. A cut-off or damaged page at the end of the file is
 * ignored; one in the middle is AUDIO_UNREADABLE. Pages that `wanted` rejects have an empty body and are not checked.
 */
export async function* pages(reader: BufferedReader, wanted: (header: PageHeader) => boolean): AsyncGenerator<Page> {
  for (;;) {
    await reader.fill(MAX_HEADER_BYTES);
    if (reader.bytes.length === 0) return;
    const header = pageHeader(reader.bytes, 0);
    if (header === null) break;
    const { offset } = reader;
    if (!wanted(header)) {
      yield { ...header, offset, body: new Uint8Array(0) };
      await reader.skip(header.sizeBytes);
      continue;
    }
    await reader.fill(header.sizeBytes);
    if (!isIntact(reader.bytes, 0, header)) break;
    const body = reader.bytes.subarray(header.headerBytes, header.sizeBytes);
    yield { ...header, offset, body };
    reader.consume(header.sizeBytes);
  }
  if (await anotherPage(reader)) throw unreadable('The Ogg file is damaged in the middle.');
}

/**
 * Positions that look like a page but are not one. Each costs a checksum, and a file with more was made to waste time.
 */
const MAX_FALSE_PAGES = 256;

/** Whether another page follows the damaged bytes. */
async function anotherPage(reader: BufferedReader): Promise<boolean> {
  let falsePages = 0;
  for (let from = 1; ; from = 0) {
    const more = await reader.fill(2 * MAX_PAGE_BYTES);
    const { bytes } = reader;
    const searchable = more ? bytes.length - MAX_PAGE_BYTES : bytes.length;
    for (let at = from; at < searchable; at++) {
      if (!isPageStart(bytes, at)) continue;
      const header = pageHeader(bytes, at);
      if (header === null) continue;
      if (isIntact(bytes, at, header) || ++falsePages > MAX_FALSE_PAGES) return true;
    }
    if (!more) return false;
    reader.consume(searchable);
  }
}

/** The complete pages in `bytes`, the last one first. */
export function* pagesFromEnd(bytes: Uint8Array): Generator<PageHeader & { at: number }> {
  let end = bytes.length;
  let falsePages = 0;
  for (let at = end - 1; at >= 0 && falsePages < MAX_FALSE_PAGES; at--) {
    if (!isPageStart(bytes, at)) continue;
    const header = pageHeader(bytes, at);
    if (header === null || at + header.sizeBytes > end) continue;
    if (isIntact(bytes, at, header)) {
      yield { ...header, at };
      end = at;
    } else {
      falsePages++;
    }
  }
}
