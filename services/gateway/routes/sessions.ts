import type { IncomingMessage } from 'node:http';
import { SessionToken } from '@call-analysis/api/access';
import { text } from '@call-analysis/api/fields';
import { Fault } from '@call-analysis/fault';
import type { SessionReply } from '@call-analysis/proto/key_management/v1/SessionReply';
import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import { publicPath } from '../http/request/public-url.ts';
import { servedBy, type Services } from './rpc-caller.ts';

export const SESSION_PATH = '/api/v1/session';

/** A cookie that only its own addresses get, that no script reads, and that goes over TLS alone where there is TLS. */
export interface PathCookie {
  readonly name: string;
  /** The path of the addresses that get it, without that of the public URL. */
  readonly path: string;
  /** `Lax` also when another site sends the browser here. */
  readonly sameSite: 'Strict' | 'Lax';
}

/** The cookie's secret is good for refreshing and ending a session. */
export const SESSION_COOKIE: PathCookie = { name: 'call_analysis_session', path: SESSION_PATH, sameSite: 'Strict' };

/** The value of `Set-Cookie`. */
export function cookieOf(
  { name, path, sameSite }: PathCookie,
  { request, configuredUrl }: { request: IncomingMessage; configuredUrl: string | undefined },
  value: string,
  expiresAt: Date,
): string {
  const isSecure = configuredUrl?.startsWith('https:') === true || request.headers['x-forwarded-proto'] === 'https';
  const fullPath = `${publicPath(configuredUrl).replace(/\/$/, '')}${path}`;
  const attributes = `Path=${fullPath}; Expires=${expiresAt.toUTCString()}; HttpOnly; SameSite=${sameSite}`;
  return `${name}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`;
}

/** The value that a browser sent, or null. */
export function cookieIn(request: IncomingMessage, { name }: PathCookie): string | null {
  const pattern = new RegExp(`(?:^|;)\\s*${name}=([\\w-]{1,1024})\\s*(?:;|$)`);
  return pattern.exec(request.headers.cookie ?? '')?.[1] ?? null;
}

/**
 * Sessions of people who use a page in a browser (docs/api.md, "Console, client, command line, MCP"). The cookie is
 * good for these addresses alone, and only for pages of the same origin. Everything else needs the token, which other
 * origins cannot read.
 */
export function sessions({ keyManagement: keys }: Services, configuredUrl: string | undefined): Endpoint[] {
  const cookie = (request: IncomingMessage, value: string, expiresAt: string): string =>
    cookieOf(SESSION_COOKIE, { request, configuredUrl }, value, new Date(expiresAt));

  const endpoint = servedBy(keys, { tag: 'Sessions', credentials: 'none' });
  return [
    endpoint({
      method: 'POST',
      path: SESSION_PATH,
      body: z
        .strictObject({ code: text(512).meta({ description: 'The part of the link after `#code=`.' }) })
        .meta({ id: 'OpenSessionRequest', examples: [{ code: 'jV3bQ0W1m0zS2nYb7mT4Yt5rU8oH2c9dXq6eK1fL0pA' }] }),
      id: 'openSession',
      summary: 'Sign in with a one-time link',
      description: `Sets a cookie with which the session is refreshed, for at most 7 days. A session that is not refreshed for 12 hours ends. ${OWN_PAGES}`,
      responses: { 200: { description: 'A bearer token of 15 minutes.', schema: SessionToken } },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN'],
      async handle({ request, body, address }) {
        requireSameOrigin(request, configuredUrl);
        const opened = await keys.openSession({ code: body.code, address });
        return {
          headers: { 'set-cookie': cookie(request, opened.secret, opened.session_expires_at) },
          body: tokenOf(opened),
        };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${SESSION_PATH}/refresh`,
      id: 'refreshSession',
      summary: 'Get a new token for a session',
      description: `Requires the cookie of the session. ${OWN_PAGES}`,
      responses: { 200: { description: 'A bearer token of 15 minutes.', schema: SessionToken } },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN'],
      async handle({ request }) {
        requireSameOrigin(request, configuredUrl);
        const secret = cookieIn(request, SESSION_COOKIE);
        if (secret === null) throw new Fault('unauthenticated', 'UNAUTHENTICATED', 'There is no session. Sign in.');
        return { status: 200, body: tokenOf(await keys.refreshSession({ secret })) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: SESSION_PATH,
      id: 'closeSession',
      summary: 'Sign out',
      description: `Tokens of the session are refused within 5 seconds. Without a session this does nothing. ${OWN_PAGES}`,
      responses: { 204: { description: 'The session has ended.' } },
      errors: ['FORBIDDEN'],
      async handle({ request, address }) {
        requireSameOrigin(request, configuredUrl);
        const secret = cookieIn(request, SESSION_COOKIE);
        if (secret !== null) await keys.closeSession({ secret, address });
        return { status: 204, headers: { 'set-cookie': cookie(request, '', new Date(0).toISOString()) } };
      },
    }),
  ];
}

const OWN_PAGES = 'Pages of other origins are refused.';

function tokenOf({ token, token_expires_at }: SessionReply) {
  return { token, expires_at: token_expires_at };
}

/**
 * Refuses requests that a browser sends for a page of another origin. Browsers send this in a header that proxies do
 * not change; old ones send only the origin. Other clients send neither.
 */
function requireSameOrigin(request: IncomingMessage, configuredUrl: string | undefined): void {
  const { origin, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined ? site === 'same-origin' || site === 'none' : isOwn(origin, host, configuredUrl)) return;
  throw new Fault('forbidden', 'FORBIDDEN', 'Sessions are only for pages of this service.');
}

function isOwn(origin: string | undefined, host: string | undefined, configuredUrl: string | undefined): boolean {
  if (origin === undefined) return true;
  if (configuredUrl !== undefined && origin === new URL(configuredUrl).origin) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
