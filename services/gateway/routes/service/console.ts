import { randomBytes } from 'node:crypto';
import { type Asset, type Encoding, openSite, type Site } from '@call-analysis/console';
import { Fault } from '@call-analysis/fault';
import type { Request } from 'express';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint.ts';
import { securePage } from '../../http/response/headers.ts';
import { routeNotFound } from '../../http/response/http-error.ts';
import type { JsonResponse, Response } from '../../http/response/send.ts';
import { ownEndpoint } from '../rpc-caller.ts';

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
  const page = async (response: Response): Promise<JsonResponse> => {
    const nonce = randomBytes(16).toString('base64');
    const body = Buffer.from((await opened()).page(path, nonce));
    securePage(response, policyOf(nonce, objectsOrigin === undefined ? [] : [objectsOrigin]));
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
  };
  return [
    ownEndpoint({
      method: 'GET',
      path: '/',
      id: 'getRoot',
      summary: 'Go to the console',
      description: 'Redirects browsers, which accept `text/html`, to the console. Others get 404.',
      responses: { 302: { description: 'The console.', headers: { Location: 'The path of the console.' } } },
      errors: ['NOT_FOUND'],
      async handle({ request }) {
        if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw routeNotFound();
        return { status: 302, headers: { location: path, vary: 'Accept' } };
      },
    }),
    ownEndpoint({
      method: 'GET',
      path: '/console',
      id: 'getConsole',
      summary: 'Open the console',
      responses: {
        200: { description: 'The page for people.', type: 'text/html' },
        302: { description: 'The same path with a slash at the end.', headers: { Location: 'The path.' } },
      },
      async handle({ request, response }) {
        if (/^[^?#]*\/(?:[?#]|$)/.test(request.url)) return page(response);
        return { status: 302, headers: { location: path } };
      },
    }),
    ownEndpoint({
      method: 'GET',
      path: '/console/*path',
      query: z.looseObject({}),
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
      async handle({ request, response }) {
        const [name = ''] = request.url.slice('/console/'.length).split(/[?#]/);
        if (!name.startsWith(ASSETS)) return page(response);
        const asset = (await opened()).assets.get(name.slice(ASSETS.length));
        if (asset === undefined) throw routeNotFound();
        return answerWith(asset, request);
      },
    }),
  ];
}

function answerWith({ type, bytes }: Asset, request: Request): JsonResponse {
  const encoding = ENCODINGS.find((each) => bytes[each] !== undefined && request.acceptsEncodings(each) !== false);
  const headers = {
    'content-type': type,
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    vary: 'Accept-Encoding',
    'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
  };
  return { status: 200, headers, body: bytes[encoding ?? 'identity'] ?? bytes.identity };
}

/**
 * Scripts come from this server only. Recordings and uploads may be in an object store of another origin, whose URLs the
 * API returns. wavesurfer.js makes a style element, which needs the nonce.
 */
function policyOf(nonce: string, stores: readonly string[]): Record<string, readonly string[]> {
  return {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'", `'nonce-${nonce}'`],
    'img-src': ["'self'", 'data:'],
    'media-src': ["'self'", 'blob:', ...stores],
    'connect-src': ["'self'", ...stores],
    'base-uri': ["'self'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  };
}
