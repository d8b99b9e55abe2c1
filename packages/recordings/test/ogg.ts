import { checksum, pageHeader } from '../ogg/page.ts';
import { joined } from './bytes.ts';

/** The pages of a file that is whole, each as its bytes. */
export function pagesIn(bytes: Uint8Array): Uint8Array[] {
  const pages: Uint8Array[] = [];
  for (let at = 0; ;) {
    const header = pageHeader(bytes, at);
    if (header === null) return pages;
    pages.push(bytes.slice(at, at + header.sizeBytes));
    at += header.sizeBytes;
  }
}

/** A page with some of its fields changed and its checksum made right again. */
export function changed(
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

/** A page of one stream with packets under 255 bytes, or parts of a large one: `lacing` says which. */
export function page(
  serial: number,
  flags: number,
  granule: bigint,
  lacing: readonly number[],
  body: Uint8Array,
): Uint8Array {
  const head = new Uint8Array(27);
  head.set(Buffer.from('OggS'));
  head[26] = lacing.length;
  return changed(joined(head, Uint8Array.from(lacing), body), { granule, serial, flags });
}
