import type { IncomingMessage } from 'node:http';
import { Problem } from '../response/http-error.ts';

/** Makes a path on the gateway absolute; what is absolute already stays as it is. */
export type PublicUrl = (request: IncomingMessage, pathOrUrl: string) => string;

/** Without a configured base the client's own Host is the one address that is known to lead here. */
export function publicUrl(configured: string | undefined): PublicUrl {
  const base = configured?.replace(/\/+$/, '');
  return (request, pathOrUrl) => (pathOrUrl.startsWith('/') ? (base ?? baseOf(request)) + pathOrUrl : pathOrUrl);
}

/** What a proxy takes away from the beginning of paths before a request comes here; `/` when it takes nothing. */
export function publicPath(configured: string | undefined): string {
  return configured === undefined ? '/' : new URL(configured).pathname.replace(/(?<=.)\/+$/, '');
}

function baseOf(request: IncomingMessage): string {
  const { host } = request.headers;
  if (host === undefined || !/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)) {
    throw new Problem(400, 'INVALID_REQUEST', 'The Host header is not a host and port.');
  }
  return `http://${host}`;
}
