import type { IncomingHttpHeaders } from 'node:http';

/**
 * The byte range that a request asks for, its end inclusive. Null means the complete file: the request asks for no range,
 * for several, in another unit, or for a range of a version that is no longer current (RFC 9110, 14.2).
 *
 * range-parser is not used because it answers 416 where RFC 9110, 14.1.1 asks for the complete file: for a suffix that
 * is longer than the file (`bytes=-30` of 10), and for a malformed range (`bytes=3-2`).
 */
export function byteRange(
  headers: IncomingHttpHeaders,
  etag: string,
  sizeBytes: number,
): { start: number; end: number } | null | 'unsatisfiable' {
  const { range, 'if-range': ifRange } = headers;
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return null;
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range) ?? [];
  if (first === '' && last === '') return null;
  const lastByte = sizeBytes - 1;
  if (first === '') {
    const start = Math.max(0, sizeBytes - Number(last));
    return start > lastByte ? 'unsatisfiable' : { start, end: lastByte };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start > lastByte) return 'unsatisfiable';
  return { start, end: last === '' ? lastByte : Math.min(Number(last), lastByte) };
}
