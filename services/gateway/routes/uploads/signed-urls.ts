import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Fault } from '@call-analysis/fault';
import { MEDIA_TYPES, mediaType, type Objects, type SignedUrl, type SignedUrls } from '@call-analysis/objects';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { bodyOf } from '../../http/request/body-stream.ts';
import { byteRange } from '../../http/request/byte-range.ts';
import { Problem } from '../../http/response/http-error.ts';
import { SILENCE_MS, welcomeBody } from '../../http/response/json-response.ts';

/** What a URL is signed with, for the document alone: it is the store that says whether they are good, whatever they are. */
const SignedQuery = z.looseObject(
  Object.fromEntries(
    ['expires', 'max', 'method', 'signature'].map((name) => [
      name,
      z
        .unknown()
        .optional()
        .meta({ wire: { type: 'string' } }),
    ]),
  ),
);

const MEDIA = MEDIA_TYPES.map((type) => type.replace(/;.*/, ''));
const FILE_HEADERS = {
  ETag: 'Of these bytes.',
  'Accept-Ranges': '`bytes`',
  'Content-Disposition': 'The name of the file.',
};

/**
 * The signed URLs of a store that is served from here. The URL alone is the proof: an Authorization header, which a
 * client must not send, is not looked at.
 */
export function objects(store: Objects & SignedUrls): Endpoint[] {
  const at = {
    path: '/objects/*key',
    proof: 'none',
    query: SignedQuery,
  } as const;
  return [
    endpoint({
      ...at,
      method: 'PUT',
      about: {
        tag: 'Files',
        summary: 'Put a file',
        params: { key: z.string().min(1) },
        description:
          'What an upload was given a signed URL for; take the URL as it is, and send the bytes as the body.',
        bytes: 'The file as it is.',
        answers: { 200: { description: 'All of it is stored.' } },
        refusals: ['FORBIDDEN', 'REQUEST_TIMEOUT', 'UPLOAD_TOO_LARGE', 'INSUFFICIENT_STORAGE'],
      },
      async handle({ request, response }) {
        const { key, maxBytes } = allowed(store, request);
        if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
        welcomeBody(request, response);
        try {
          await store.put(key, bodyOf(request), { maxBytes });
        } catch (error) {
          throw error instanceof Fault && error.kind === 'too-large' ? tooLarge(maxBytes) : error;
        }
        return { status: 200 };
      },
    }),
    endpoint({
      ...at,
      method: 'GET',
      about: {
        tag: 'Files',
        summary: 'Get a file',
        params: { key: z.string().min(1) },
        description: 'What a signed URL was given for; take the URL as it is.',
        headers: {
          Range: { description: 'One range of bytes: `bytes=0-1023`.', schema: z.string().optional() },
        },
        answers: {
          200: { description: 'The file.', type: MEDIA, headers: FILE_HEADERS },
          206: {
            description: 'The bytes that were asked for.',
            type: MEDIA,
            headers: { ...FILE_HEADERS, 'Content-Range': 'Which bytes these are, of how many.' },
          },
        },
        refusals: ['FORBIDDEN', 'NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
      },
      async handle({ request, response }) {
        await download(store, allowed(store, request).key, request, response);
        return undefined;
      },
    }),
  ];
}

function allowed(store: SignedUrls, request: IncomingMessage): Exclude<SignedUrl, { refused: string }> {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  const method = request.method === 'PUT' ? 'PUT' : 'GET';
  const given = new URLSearchParams(query);
  const signed = store.verify(method, path, given);
  if (!('refused' in signed)) return signed;
  throw new Fault('forbidden', 'FORBIDDEN', whyNot(signed.refused, method, given.get('method')));
}

function whyNot(refused: 'expired' | 'not-signed', method: 'PUT' | 'GET', signedFor: string | null): string {
  if (refused === 'expired') return 'This URL has expired. Ask for a new one.';
  const isOther = signedFor === (method === 'PUT' ? 'GET' : 'PUT');
  if (isOther) return `This URL is for ${signedFor}, not for ${method}. Use it for what it was given.`;
  return 'This URL has been altered or has expired. Use it exactly as it was given, or ask for a new one.';
}

async function download(
  store: Objects,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const found = await store.head(key);
  if (found === null) throw new Fault('not-found', 'NOT_FOUND', 'Nothing is stored at this address.');
  const { sizeBytes, modifiedAt } = found;
  const etag = `"${sizeBytes.toString(36)}-${modifiedAt.getTime().toString(36)}"`;
  const headers = {
    etag,
    'last-modified': modifiedAt.toUTCString(),
    'accept-ranges': 'bytes',
    // Whoever has the URL may play the recording in a page of their own.
    'cross-origin-resource-policy': 'cross-origin',
  };
  if (isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  // RFC 9110, 14.2: of a HEAD there are no parts.
  const range = request.method === 'HEAD' ? null : byteRange(request.headers, etag, sizeBytes);
  if (range === 'unsatisfiable') {
    throw new Problem(416, 'RANGE_NOT_SATISFIABLE', `There are ${sizeBytes} bytes.`, {
      'content-range': `bytes */${sizeBytes}`,
    });
  }
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  const { type, disposition } = mediaType(key);
  response.writeHead(range === null ? 200 : 206, {
    ...headers,
    'content-type': type,
    'content-disposition': disposition,
    'content-length': end - start + 1,
    ...(range !== null && { 'content-range': `bytes ${start}-${end}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD' || sizeBytes === 0) {
    response.end();
    return;
  }
  response.setTimeout(SILENCE_MS);
  await pipeline(await store.open(key, { start, end }), response);
}

/** RFC 9110, 13.1.2: one of a list, weakened by a proxy on the way or not; `*` is whatever there is. */
function isKnown(given: string | undefined, etag: string): boolean {
  return given !== undefined && given.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}

function tooLarge(maxBytes: number): Fault {
  return new Fault('too-large', 'FILE_TOO_LARGE', `This file may have up to ${maxBytes} bytes.`);
}
