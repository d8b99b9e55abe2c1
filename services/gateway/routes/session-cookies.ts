import type { IncomingMessage } from 'node:http';
import { publicPath } from '../http/request/public-url.ts';

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
