import { unreadable } from '../faults.ts';
import type { Window } from '../window.ts';
import {
  isPageStart,
  isSound,
  MAX_HEADER_BYTES,
  MAX_PAGE_BYTES,
  type Page,
  type PageHeader,
  pageHeader,
} from './page.ts';

/**
 * The pages of a file in order, each checked by its checksum. A page that is cut off or broken at the end of the file
 * is left out; one in the middle is AUDIO_UNREADABLE. Pages that `wanted` declines come without body and unchecked.
 */
export async function* pages(
  window: Window,
  wanted: (header: PageHeader) => boolean = () => true,
): AsyncGenerator<Page> {
  for (;;) {
    await window.has(MAX_HEADER_BYTES);
    if (window.bytes.length === 0) return;
    const header = pageHeader(window.bytes, 0);
    if (header === null) break;
    const { offset } = window;
    if (!wanted(header)) {
      yield { ...header, lacing: header.lacing.slice(), offset, body: new Uint8Array(0) };
      await window.skip(header.sizeBytes);
      continue;
    }
    await window.has(header.sizeBytes);
    if (!isSound(window.bytes, 0, header)) break;
    const whole = window.bytes.subarray(0, header.sizeBytes);
    yield { ...header, lacing: header.lacing.slice(), offset, body: whole.subarray(header.headerBytes) };
    window.drop(header.sizeBytes);
  }
  if (await anotherPage(window)) throw unreadable('The Ogg is broken in the middle.');
}

/**
 * Places that look like a page and are none, each of which costs a checksum; a file with more was made to waste time.
 */
const MAX_MISTAKES = 256;

async function anotherPage(window: Window): Promise<boolean> {
  let mistakes = 0;
  for (let from = 1; ; from = 0) {
    const more = await window.has(2 * MAX_PAGE_BYTES);
    const { bytes } = window;
    const searchable = more ? bytes.length - MAX_PAGE_BYTES : bytes.length;
    for (let at = from; at < searchable; at++) {
      if (!isPageStart(bytes, at)) continue;
      const header = pageHeader(bytes, at);
      if (header === null) continue;
      if (isSound(bytes, at, header) || ++mistakes > MAX_MISTAKES) return true;
    }
    if (!more) return false;
    window.drop(searchable);
  }
}

/** Whole pages that end in `bytes`, the last first. */
export function* pagesFromEnd(bytes: Uint8Array): Generator<PageHeader & { at: number }> {
  let end = bytes.length;
  let mistakes = 0;
  for (let at = end - 1; at >= 0 && mistakes < MAX_MISTAKES; at--) {
    if (!isPageStart(bytes, at)) continue;
    const header = pageHeader(bytes, at);
    if (header === null || at + header.sizeBytes > end) continue;
    if (isSound(bytes, at, header)) {
      yield { ...header, at };
      end = at;
    } else {
      mistakes++;
    }
  }
}
