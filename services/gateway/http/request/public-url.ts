import type { IncomingMessage } from 'node:http';
import { HttpError } from '../response/http-error.ts';

/** Makes a path of the gateway an absolute URL. An absolute URL is returned as it is. */
export type PublicUrl = (request: IncomingMessage, pathOrUrl: string) => string;

/** Without a configured base URL, the request's Host is the only address that is known to lead here. */
export function publicUrl(configured: string | undefined): PublicUrl {
  const base = configured?.replace(/\/+$/, '');
  return (request, pathOrUrl) => (pathOrUrl.startsWith('/') ? (base ?? baseOf(request)) + pathOrUrl : pathOrUrl);
}

/** The prefix that a proxy strips from paths, or `/`. */
export function publicPath(configured: string | undefined): string {
  return configured === undefined ? '/' : new URL(configured).pathname.replace(/(?<=.)\/+$/, '');
}

function baseOf(request: IncomingMessage): string {
  const { host } = request.headers;
  if (host === undefined || !/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)) {
    throw new HttpError(400, 'INVALID_REQUEST', 'The Host header must be a host, with or without a port.');
  }
  return `http://${host}`;
}
