import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { Fault, type FieldFault, invalidFields } from '@call-analysis/fault';
import { bodyStream } from '../request/body-stream.ts';
import { expectsContinue, sendContinue } from '../response/send.ts';
import { MalformedMultipart, type Part, partsOf } from './parts.ts';

/** The names in a part's header. `fileName` is null when the part is not a file. */
interface PartNames {
  readonly name: string;
  readonly fileName: string | null;
}

const PARAMETER = /\s*;\s*([^\s=;"]+)\s*=\s*(?:"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"|([^\s;"]*))/y;

/**
 * Reads a part's `Content-Disposition`, in which each character is a byte. Null when it is not that of a form's part, or
 * not UTF-8 (RFC 7578, 4.2 and 5.1). The file name keeps any path that the client sent. `filename*` (RFC 5987) has
 * precedence over `filename`, which is then a fallback for older servers.
 */
function partNames(disposition: string): PartNames | null {
  const [type = ''] = /^\s*[^\s;]+/.exec(disposition) ?? [];
  if (type.trim().toLowerCase() !== 'form-data') return null;
  const given = new Map<string, string>();
  let at = type.length;
  for (;;) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(disposition);
    if (match === null) break;
    at = PARAMETER.lastIndex;
    const key = (match[1] ?? '').toLowerCase();
    const value = match[2]?.replace(/\\(["\\])/g, '$1') ?? match[3] ?? '';
    if (!given.has(key)) given.set(key, value);
  }
  if (/[^\s;]/.test(disposition.slice(at))) return null;
  const name = plain(given.get('name'));
  const fileName = given.has('filename*') ? extended(given.get('filename*')) : plain(given.get('filename'));
  if (name === undefined || name === null || fileName === null) return null;
  return { name, fileName: fileName ?? null };
}

/** Browsers send names in UTF-8, with a quote as %22 and a percent sign unchanged (HTML, "Multipart form data"). */
function plain(bytes: string | undefined): string | null | undefined {
  if (bytes === undefined) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
    return text.replaceAll('%22', '"');
  } catch {
    return null;
  }
}

/** `UTF-8'en'%D0%97.wav` */
function extended(value = ''): string | null {
  const [, encoded] = /^utf-8'[^']*'((?:%[0-9a-f]{2}|[^%'"\s])*)$/i.exec(value) ?? [];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

/** A form sent as multipart/form-data (RFC 7578). Each part must be sent exactly once, in any order. */
export interface Form {
  readonly parts: Readonly<Record<string, FormPart>>;
  /** The complete form must have arrived by then. */
  readonly maxMs: number;
}

export interface FormPart {
  /** A file has a name and is streamed. A text is UTF-8 and is read into memory. */
  readonly kind: 'file' | 'text';
  /** A larger file is FILE_TOO_LARGE. A larger text is a fault of its field. */
  readonly maxBytes: number;
}

/** A piece of a form as it arrives. A file is its name followed by its bytes in pieces. A text is one piece. */
export type FormPiece =
  | { readonly part: string; readonly fileName: string }
  | { readonly part: string; readonly bytes: Buffer }
  | { readonly part: string; readonly text: string };

/** More than the headers and boundaries of a form add to its parts. */
const OVERHEAD_BYTES = 1024 * 1024;
/** RFC 2046, 5.1.1. */
const MAX_BOUNDARY_LENGTH = 70;
const MAX_HEADER_LENGTH = 16 * 1024;
/** With more faults than this the mistake is another one, and listing them all would make a large response. */
const MAX_FAULTS = 20;
const MAX_NAME_LENGTH = 100;

/** The form has more bytes than its parts may have together. */
class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/**
 * Reads a form piece by piece. Faults of the form are reported when it has ended, missing parts first (docs/api.md,
 * "Single upload"). Only FILE_TOO_LARGE, and faults that make the rest unreadable, end it immediately. A form with more
 * bytes than its parts may have is not read further, and the faults that are known then are reported.
 */
export function readForm(form: Form, request: IncomingMessage, response: ServerResponse): AsyncIterable<FormPiece> {
  const boundary = boundaryOf(form, request);
  const maxBytes = Object.values(form.parts).reduce((sum, part) => sum + part.maxBytes, OVERHEAD_BYTES);
  const declaredBytes = Number(request.headers['content-length'] ?? 0);
  // The client asks whether to send the form at all. Which part is too large would be known only when it has sent most.
  if (expectsContinue(request) && declaredBytes > maxBytes)
    throw tooLarge(largestPart(form), `The form would have ${declaredBytes} bytes; a file may have`);
  return {
    [Symbol.asyncIterator]: () => {
      sendContinue(request, response);
      const body = bodyStream(request, form);
      return pieces(form, body, partsOf(bounded(body, maxBytes), boundary));
    },
  };
}

async function* pieces(form: Form, body: Readable, parts: AsyncIterable<Part>): AsyncGenerator<FormPiece> {
  const missing = new Set(Object.keys(form.parts));
  const seen = new Set<string>();
  const faults: FieldFault[] = [];
  const fault = (field: string, code: string, message: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ field: field.slice(0, MAX_NAME_LENGTH), code, message });
  };
  try {
    for await (const { headers, bytes } of parts) {
      const named = isHeaderTooLong(headers) ? null : partNames(headers['content-disposition']?.join(';') ?? '');
      const rule = named !== null && Object.hasOwn(form.parts, named.name) ? form.parts[named.name] : undefined;
      if (named === null) {
        fault('body', 'INVALID', 'a part has no `Content-Disposition: form-data; name="…"` in UTF-8');
      } else if (rule === undefined) {
        fault(named.name, 'UNKNOWN_FIELD', `is not known; the parts are ${Object.keys(form.parts).join(' and ')}`);
      } else if (seen.has(named.name)) {
        fault(named.name, 'REPEATED', 'must be sent only once');
      } else if (isEncoded(headers)) {
        missing.delete(named.name);
        fault(named.name, 'INVALID', 'must be sent unencoded, without Content-Transfer-Encoding');
      } else if (rule.kind === 'text') {
        missing.delete(named.name);
        const text = await readText(bytes, rule.maxBytes, (code, message) => fault(named.name, code, message));
        if (text !== null) yield { part: named.name, text };
      } else if (named.fileName !== null && named.fileName !== '') {
        missing.delete(named.name);
        yield { part: named.name, fileName: named.fileName };
        yield* pieceByPiece(named.name, bytes, rule.maxBytes);
      } else {
        // Without a name it is not a file. Browsers send such a part when no file was chosen.
        fault(named.name, 'INVALID', 'has no file name: send it with filename="…" in its Content-Disposition');
      }
      if (named !== null) seen.add(named.name);
    }
  } catch (error) {
    if (error instanceof TooManyBytes) {
      // The other parts may be in what is not read.
      for (const name of missing) if (!seen.has(name)) missing.delete(name);
      if (faults.length === 0) fault('body', 'INVALID', 'has too many bytes besides its parts');
    } else if (error instanceof MalformedMultipart) {
      fault('body', 'INVALID', `is not well-formed multipart/form-data: ${error.message}`);
    } else {
      throw error;
    }
  } finally {
    body.destroy();
  }
  if (missing.size > 0) throw missingParts(form, [...missing], faults);
  if (faults.length > 0) throw invalidFields(faults);
}

async function* pieceByPiece(part: string, bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<FormPiece> {
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield { part, bytes: piece };
  }
}

/** Null after a fault, which is reported as soon as it is known. */
async function readText(
  bytes: AsyncIterable<Buffer>,
  maxBytes: number,
  fault: (code: string, message: string) => void,
): Promise<string | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of bytes) {
    if (size <= maxBytes && size + piece.length > maxBytes) fault('TOO_LONG', `must have at most ${maxBytes} bytes`);
    size += piece.length;
    if (size <= maxBytes) pieces.push(piece);
  }
  if (size > maxBytes) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    fault('INVALID', 'must be UTF-8');
    return null;
  }
}

async function* bounded(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new TooManyBytes();
    yield chunk;
  }
}

function boundaryOf(form: Form, request: IncomingMessage): string {
  const given = request.headers['content-type'] ?? '';
  const [type = ''] = given.split(';');
  // Many HTTP clients send another type when they were given no file. Such a body has no parts.
  if (type.trim().toLowerCase() !== 'multipart/form-data') throw missingParts(form, Object.keys(form.parts));
  const [, quoted, bare] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i.exec(given) ?? [];
  const boundary = quoted ?? bare ?? '';
  if (boundary === '' || boundary.length > MAX_BOUNDARY_LENGTH) {
    const message = `needs a boundary of 1 to ${MAX_BOUNDARY_LENGTH} characters; let the HTTP client set this header`;
    throw invalidFields([{ field: 'Content-Type', code: 'INVALID', message }]);
  }
  return boundary;
}

function isHeaderTooLong(headers: Part['headers']): boolean {
  return Object.values(headers).flat().join().length > MAX_HEADER_LENGTH;
}

/** RFC 7578, 4.7, deprecates encoded parts. Stored without decoding, the file would be another one. */
function isEncoded(headers: Part['headers']): boolean {
  return (headers['content-transfer-encoding'] ?? []).some((value) => !/^\s*(?:7bit|8bit|binary)\s*$/i.test(value));
}

function largestPart(form: Form): number {
  return Math.max(...Object.values(form.parts).map((part) => part.maxBytes));
}

/** The other faults usually explain a missing part: it has another name, or its header cannot be read. */
function missingParts(form: Form, missing: readonly string[], faults: readonly FieldFault[] = []): Fault {
  const parts = Object.entries(form.parts).map(
    ([name, { kind }]) => `${name} (${kind === 'file' ? 'a file with its name' : 'text'})`,
  );
  const message = `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing. Send multipart/form-data with the parts ${parts.join(' and ')}.`;
  const also = faults.length === 0 ? '' : ` Also wrong: ${invalidFields(faults).message}.`;
  return new Fault('invalid', 'MISSING_FILE', message + also, { details: { missing } });
}

function tooLarge(maxBytes: number, why = 'The file has more than'): Fault {
  const message = `${why} ${maxBytes} bytes (${Math.floor(maxBytes / 1024 ** 2)} MB). Send a smaller one.`;
  return new Fault('invalid', 'FILE_TOO_LARGE', message, { details: { limit_bytes: maxBytes } });
}
