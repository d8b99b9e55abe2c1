import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type Asset, type Encoding, openSite, type Site } from '@call-analysis/console';
import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { EdgeResponse } from '../../http/response/edge-response.ts';
import { routeNotFound } from '../../http/response/http-error.ts';
import { pageHeaders } from '../../http/response/security-headers.ts';

const YEAR_SECONDS = 31_536_000;
const ASSETS = 'assets/';
/** The best first. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

/**
 * The console, the page for people (docs/api.md, "Console"). It is served under `base`, the path of the gateway's public
 * URL, and is read when it is first asked for.
 */
export function consolePage(base: string, objectsOrigin?: string): Endpoint[] {
  const path = `${base === '/' ? '' : base}/console/`;
  let site: Promise<Site | null> | undefined;
  const opened = async () => {
    const found = await (site ??= openSite());
    if (found !== null) return found;
    site = undefined;
    throw new Fault('unavailable', 'UNAVAILABLE', 'The console was not built. Run `node scripts/prepare.mjs`.');
  };
  const sendPage = async (request: IncomingMessage, response: EdgeResponse) => {
    const nonce = randomBytes(16).toString('base64');
    const page = Buffer.from((await opened()).page(path, nonce));
    send(request, response, page, {
      ...policyHeaders(nonce, objectsOrigin === undefined ? [] : [objectsOrigin]),
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
    });
    return undefined;
  };
  return [
    endpoint({
      method: 'GET',
      path: '/',
      credentials: 'none',
      docs: {
        tag: 'Service',
        id: 'getRoot',
        summary: 'Go to the console',
        description: 'Redirects browsers, which accept `text/html`, to the console. Others get 404.',
        responses: { 302: { description: 'The console.', headers: { Location: 'The path of the console.' } } },
        errors: ['NOT_FOUND'],
      },
      async handle({ request, response }) {
        if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw routeNotFound();
        response.writeHead(302, { location: path, vary: 'Accept', 'content-length': 0 }).end();
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: '/console',
      credentials: 'none',
      docs: {
        tag: 'Service',
        id: 'getConsole',
        summary: 'Open the console',
        responses: {
          200: { description: 'The page for people.', type: 'text/html' },
          302: { description: 'The same path with a slash at the end.', headers: { Location: 'The path.' } },
        },
      },
      async handle({ request, response }) {
        if (/^[^?#]*\/(?:[?#]|$)/.test(request.url ?? '')) return sendPage(request, response);
        response.writeHead(302, { location: path, 'content-length': 0 }).end();
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: '/console/*path',
      credentials: 'none',
      query: z.looseObject({}),
      docs: {
        tag: 'Service',
        id: 'getConsolePath',
        summary: 'Open a page of the console',
        description: 'Assets under `assets/` have a hash in their name and never change. Other paths return the page.',
        params: { path: z.string().min(1) },
        responses: {
          200: {
            description: 'The page, or an asset.',
            type: ['text/html', 'text/javascript', 'text/css', 'application/json', 'image/svg+xml'],
          },
        },
        errors: ['NOT_FOUND'],
      },
      async handle({ request, response }) {
        const [name = ''] = (request.url ?? '').slice('/console/'.length).split(/[?#]/);
        if (!name.startsWith(ASSETS)) return sendPage(request, response);
        const asset = (await opened()).assets.get(name.slice(ASSETS.length));
        if (asset === undefined) throw routeNotFound();
        sendAsset(request, response, asset);
        return undefined;
      },
    }),
  ];
}

function sendAsset(request: IncomingMessage, response: EdgeResponse, { type, bytes }: Asset): void {
  const accepted = acceptedEncodings(request.headers['accept-encoding']);
  const encoding = ENCODINGS.find((each) => accepted.has(each) && bytes[each] !== undefined);
  send(request, response, bytes[encoding ?? 'identity'] ?? bytes.identity, {
    'content-type': type,
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    vary: 'Accept-Encoding',
    'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
  });
}

function send(request: IncomingMessage, response: EdgeResponse, bytes: Buffer, headers: OutgoingHttpHeaders): void {
  response.writeHead(200, { ...headers, 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** RFC 9110, 12.5.3, without preferences: encodings with a weight above 0. */
function acceptedEncodings(header: string | undefined): ReadonlySet<string> {
  const accepted = (header ?? '')
    .split(',')
    .map((each) =>
      each
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q\s*=\s*/),
    )
    .filter(([, weight]) => weight === undefined || Number(weight) > 0);
  return new Set(accepted.map(([name = '']) => name));
}

/**
 * Scripts come from this server only. Recordings and uploads may be in an object store of another origin, whose URLs the
 * API returns. wavesurfer.js makes a style element, which needs the nonce.
 */
function policyHeaders(nonce: string, stores: readonly string[]): Record<string, string> {
  return pageHeaders({
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'", `'nonce-${nonce}'`],
    'img-src': ["'self'", 'data:'],
    'media-src': ["'self'", 'blob:', ...stores],
    'connect-src': ["'self'", ...stores],
    'base-uri': ["'self'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  });
}
