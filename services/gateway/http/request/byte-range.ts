import type { IncomingHttpHeaders } from 'node:http';

/**
 * The one range of bytes that a request asks for, its end inclusive. Null, for the whole, when it asks for none,
 * for several, in another unit, or for a part of a version that is no longer the current one (RFC 9110, 14.2).
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
