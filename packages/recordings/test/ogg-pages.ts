import { checksum, pageHeader } from '../ogg/page.ts';
import { concat } from './bytes.ts';

/** The bytes of every page of a complete file. */
export function pagesIn(bytes: Uint8Array): Uint8Array[] {
  const pages: Uint8Array[] = [];
  for (let at = 0; ;) {
    const header = pageHeader(bytes, at);
    if (header === null) return pages;
    pages.push(bytes.slice(at, at + header.sizeBytes));
    at += header.sizeBytes;
  }
}

/** A copy of the page with other fields and a correct checksum. */
export function withPageFields(
  page: Uint8Array,
  change: { granule?: bigint; serial?: number; flags?: number } = {},
): Uint8Array {
  const out = page.slice();
  const view = new DataView(out.buffer);
  if (change.granule !== undefined) view.setBigInt64(6, change.granule, true);
  if (change.serial !== undefined) view.setUint32(14, change.serial, true);
  if (change.flags !== undefined) view.setUint8(5, change.flags);
  view.setUint32(22, checksum(out, 0, out.length), true);
  return out;
}

export function granuleOf(page: Uint8Array): bigint {
  return new DataView(page.buffer, page.byteOffset).getBigInt64(6, true);
}

/** Builds a page. `lacing` has the lengths of the segments in `body`. */
export function oggPage(
  serial: number,
  flags: number,
  granule: bigint,
  lacing: readonly number[],
  body: Uint8Array,
): Uint8Array {
  const head = new Uint8Array(27);
  head.set(Buffer.from('OggS'));
  head[26] = lacing.length;
  return withPageFields(concat(head, Uint8Array.from(lacing), body), { granule, serial, flags });
}
