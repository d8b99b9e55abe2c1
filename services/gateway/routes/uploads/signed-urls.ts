import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Fault } from '@call-analysis/fault';
import { MEDIA_TYPES, mediaType, type Objects, type SignedUrl, type SignedUrls } from '@call-analysis/objects';
import type { Request } from 'express';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { bodyStream } from '../../http/request/body-stream.ts';
import { HttpError } from '../../http/response/http-error.ts';
import { IDLE_TIMEOUT_MS, type Response, sendContinue } from '../../http/response/send.ts';

/** Parameters of a signed URL, for the document only. The object store verifies them. */
const SignedQuery = z.looseObject(
  Object.fromEntries(
    ['expires', 'max', 'method', 'signature'].map((name) => [
      name,
      z
        .unknown()
        .optional()
        .meta({ documentedAs: { type: 'string' } }),
    ]),
  ),
);

/** A signed URL is valid for as long. */
const PUT_MS = 60 * 60_000;

const MEDIA = MEDIA_TYPES.map((type) => type.replace(/;.*/, ''));
const FILE_HEADERS = {
  ETag: 'Identifies this version of the file.',
  'Accept-Ranges': '`bytes`',
  'Content-Disposition': 'The file name.',
};

/**
 * The signed URLs of an object store that the gateway serves. The URL itself is the authorization. Clients should send no
 * Authorization header, and it is ignored.
 */
export function signedUrls(store: Objects & SignedUrls): Endpoint[] {
  const at = {
    path: '/objects/*key',
    credentials: 'none',
    query: SignedQuery,
  } as const;
  return [
    endpoint({
      ...at,
      method: 'PUT',
      tag: 'Files',
      id: 'putFile',
      summary: 'Upload a file',
      params: { key: z.string().min(1) },
      description:
        'Uploads a file to a signed URL of an upload. Use the URL unchanged and send the bytes as the body. `Content-MD5` and `Content-Digest` are ignored.',
      bytes: 'The bytes of the file.',
      responses: { 200: { description: 'The complete file is stored.' } },
      errors: [
        'FORBIDDEN',
        'REQUEST_TIMEOUT',
        'UPLOAD_TOO_LARGE',
        'RATE_LIMITED',
        'UNAVAILABLE',
        'INSUFFICIENT_STORAGE',
      ],
      async handle({ request, response, beginUpload }) {
        const { key, maxBytes } = verifiedUrl(store, request);
        if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
        await beginUpload(firmOf(key));
        sendContinue(request, response);
        try {
          await store.put(key, bodyStream(request, { maxMs: PUT_MS }), { maxBytes });
        } catch (error) {
          throw error instanceof Fault && error.kind === 'too-large' ? tooLarge(maxBytes) : error;
        }
        return { status: 200 };
      },
    }),
    endpoint({
      ...at,
      method: 'GET',
      tag: 'Files',
      id: 'getFile',
      summary: 'Download a file',
      params: { key: z.string().min(1) },
      description: 'Downloads the file of a signed URL. Use the URL as it is.',
      headers: {
        Range: { description: 'One range of bytes: `bytes=0-1023`.', schema: z.string().optional() },
      },
      responses: {
        200: { description: 'The file.', type: MEDIA, headers: FILE_HEADERS },
        206: {
          description: 'The requested bytes.',
          type: MEDIA,
          headers: { ...FILE_HEADERS, 'Content-Range': 'The position of these bytes and the size of the file.' },
        },
      },
      errors: ['FORBIDDEN', 'NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
      async handle({ request, response }) {
        await download(store, verifiedUrl(store, request).key, request, response);
        return undefined;
      },
    }),
  ];
}

/** The key of an upload begins with the country, the firm and the user. */
function firmOf(key: string): string {
  return key.split('/')[1] ?? key;
}

function verifiedUrl(store: SignedUrls, request: IncomingMessage): Exclude<SignedUrl, { refused: string }> {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  const method = request.method === 'PUT' ? 'PUT' : 'GET';
  const given = new URLSearchParams(query);
  const signed = store.verify(method, path, given);
  if (!('refused' in signed)) return signed;
  throw new Fault('forbidden', 'FORBIDDEN', refusalMessage(signed.refused, method, given.get('method')));
}

function refusalMessage(refused: 'expired' | 'not-signed', method: 'PUT' | 'GET', signedFor: string | null): string {
  if (refused === 'expired') return 'This URL has expired. Request a new one.';
  const isOther = signedFor === (method === 'PUT' ? 'GET' : 'PUT');
  if (isOther) return `This URL is for ${signedFor}, not for ${method}.`;
  return 'This URL was changed or has expired. Use it exactly as it was returned, or request a new one.';
}

async function download(store: Objects, key: string, request: Request, response: Response): Promise<void> {
  const found = await store.head(key);
  if (found === null) throw new Fault('not-found', 'NOT_FOUND', 'Nothing is stored at this address.');
  const { sizeBytes, modifiedAt } = found;
  const etag = `"${sizeBytes.toString(36)}-${modifiedAt.getTime().toString(36)}"`;
  const { type, disposition } = mediaType(key);
  response.set({
    etag,
    'last-modified': modifiedAt.toUTCString(),
    'accept-ranges': 'bytes',
    // A client that has the URL may play the recording in its own page.
    'cross-origin-resource-policy': 'cross-origin',
  });
  if (isCurrent(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  // RFC 9110, 14.2: Range applies to GET only.
  const range = request.method === 'HEAD' ? null : byteRange(request.headers, etag, sizeBytes);
  if (range === 'unsatisfiable') {
    throw new HttpError(416, 'RANGE_NOT_SATISFIABLE', `The file has ${sizeBytes} bytes.`, {
      'content-range': `bytes */${sizeBytes}`,
    });
  }
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  response.writeHead(range === null ? 200 : 206, {
    'content-type': type,
    'content-disposition': disposition,
    'content-length': end - start + 1,
    ...(range !== null && { 'content-range': `bytes ${start}-${end}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD' || sizeBytes === 0) {
    response.end();
    return;
  }
  response.setTimeout(IDLE_TIMEOUT_MS);
  await pipeline(await store.open(key, { start, end }), response);
}

/** RFC 9110, 13.1.2: `If-None-Match` is a list or `*`. A proxy may have made the tag a weak one. */
function isCurrent(given: string | undefined, etag: string): boolean {
  return given !== undefined && given.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}

function tooLarge(maxBytes: number): Fault {
  return new Fault('too-large', 'FILE_TOO_LARGE', `This file may have at most ${maxBytes} bytes.`);
}

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
