import type { components, paths } from '@call-analysis/client/api-types';
import { ApiError, Unreachable } from '@call-analysis/client/errors';
import createClient from 'openapi-fetch';
import { bearerToken, endSession, renewSession, SERVICE_URL } from '../session/session.ts';
import { connectionLost } from './connection.ts';

export type Schemas = components['schemas'];

/** The interface of the service, with the types of its OpenAPI document. Use it through `send`. */
export const api = createClient<paths>({ baseUrl: SERVICE_URL, fetch: authorized, querySerializer });

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of the response. Throws ApiError or Unreachable. */
export async function send<Data>(request: Promise<Answer<Data>>): Promise<Data> {
  let answer: Answer<Data>;
  try {
    answer = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable(error);
  }
  if (answer.response.ok) return answer.data as Data;
  const error = new ApiError(answer.response, answer.error);
  // A proxy answers for a service that does not respond.
  if (error.code === '' && PROXY_FAILURES.includes(error.status)) throw unreachable(error);
  throw error;
}

const PROXY_FAILURES: readonly number[] = [502, 503, 504];

function unreachable(cause: unknown): Unreachable {
  connectionLost();
  return new Unreachable(SERVICE_URL, cause);
}

const tags = new WeakMap<object, string>();

/**
 * As `send`, but with the ETag of the body that is known, which is returned while it is current: a query that polls renders
 * nothing then. Such a query does not share structure, because a body is known by its identity.
 */
export async function follow<Data extends object>(
  known: Data | undefined,
  request: (headers: { 'If-None-Match'?: string }) => Promise<Answer<Data>>,
): Promise<Data> {
  const tag = known === undefined ? undefined : tags.get(known);
  const asked = request(tag === undefined ? {} : { 'If-None-Match': tag });
  const unchanged = asked.then(
    ({ response }) => response.status === 304,
    () => false,
  );
  if (known !== undefined && (await unchanged)) return known;
  const body = await send(asked);
  const etag = (await asked).response.headers.get('etag');
  if (etag !== null) tags.set(body, etag);
  return body;
}

/** A request with the user's token. A refused token is renewed once. */
export async function authorized(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await fetch(await withToken(request));
  if (response.status !== 401) return response;
  const renewal = await renewSession();
  if (renewal === 'renewed') return fetch(await withToken(again));
  if (renewal === 'unreachable') throw new TypeError('The session could not be renewed.');
  endSession();
  return response;
}

async function withToken(request: Request): Promise<Request> {
  const token = await bearerToken();
  if (token !== null) request.headers.set('authorization', `Bearer ${token}`);
  return request;
}

/** Lists repeat their parameter. Undefined and empty values are left out. */
function querySerializer(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][]) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (each !== undefined && each !== null && each !== '') parameters.append(name, String(each));
    }
  }
  return parameters.toString();
}
