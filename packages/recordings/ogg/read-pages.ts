import { unreadable } from '../faults.ts';
import type { BufferedReader } from '../reading/buffered-reader.ts';
import {
  isIntact,
  isPageStart,
  MAX_HEADER_BYTES,
  MAX_PAGE_BYTES,
  type Page,
  type PageHeader,
  pageHeader,
} from './page.ts';

/**
 * Yields the pages of a file in order after checking their checksums. A cut-off or damaged page at the end of the file is
 * ignored; one in the middle is AUDIO_UNREADABLE. Pages that `wanted` rejects have an empty body and are not checked.
 */
export async function* pages(
  reader: BufferedReader,
  wanted: (header: PageHeader) => boolean = () => true,
): AsyncGenerator<Page> {
  for (;;) {
    await reader.fill(MAX_HEADER_BYTES);
    if (reader.bytes.length === 0) return;
    const header = pageHeader(reader.bytes, 0);
    if (header === null) break;
    const { offset } = reader;
    if (!wanted(header)) {
      yield { ...header, lacing: header.lacing.slice(), offset, body: new Uint8Array(0) };
      await reader.skip(header.sizeBytes);
      continue;
    }
    await reader.fill(header.sizeBytes);
    if (!isIntact(reader.bytes, 0, header)) break;
    const body = reader.bytes.subarray(header.headerBytes, header.sizeBytes);
    yield { ...header, lacing: header.lacing.slice(), offset, body };
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
