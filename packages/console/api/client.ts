import type { components, paths } from '@call-analysis/client/api-types';
import { ApiError, Unreachable } from '@call-analysis/client/errors';
import type { QueryKey } from '@tanstack/react-query';
import createClient from 'openapi-fetch';
import { bearerToken, currentSession, endSession, renewSession, SERVICE_URL } from '../session/session.ts';
import { untilReachable } from './connection.ts';
import { takeEarly } from './early.ts';
import { stringify } from './search-params.ts';

export type Schemas = components['schemas'];

/** The interface of the service, with the types of its OpenAPI document. Use it through `send`. */
export const api = createClient<paths>({ baseUrl: SERVICE_URL, fetch: authorized, querySerializer: stringify });

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

type Gets = { [Path in keyof paths]: paths[Path] extends { get: infer Operation } ? Operation : never };
type Params<Path extends keyof paths> = Gets[Path] extends { parameters: infer Found }
  ? Omit<Found, 'header' | 'cookie'>
  : never;
type Body<Path extends keyof paths> = Gets[Path] extends {
  responses: { 200: { content: { 'application/json': infer Found } } };
}
  ? Found
  : never;

/** A query by its key, and what the API answers to a GET of the path. */
export function get<Path extends keyof paths>(queryKey: QueryKey, path: Path, params?: Params<Path>) {
  return {
    queryKey,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Body<Path>> =>
      // The types of openapi-fetch do not see through a path that is not known yet.
      send((api.GET as (path: string, init: object) => Promise<Answer<Body<Path>>>)(path, { params, signal })),
  };
}

const PROXY_FAILURES: readonly number[] = [502, 503, 504];

function unreachable(cause: unknown): Unreachable {
  void untilReachable();
  return new Unreachable(SERVICE_URL, cause);
}

const tags = new WeakMap<object, string | undefined>();

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
  // A request that failed has no response; `send` throws the reason.
  const response = (await asked.catch(() => null))?.response;
  if (known !== undefined && response?.status === 304) return known;
  const body = await send(asked);
  tags.set(body, response?.headers.get('etag') ?? undefined);
  return body;
}

/** A request with the user's token. A refused token is renewed once. */
async function authorized(request: Request): Promise<Response> {
  const again = request.clone();
  const user = currentSession()?.userUuid;
  const early = request.method === 'GET' ? takeEarly(request.url) : undefined;
  const response = await (early ?? fetch(await withToken(request, user)));
  if (response.status !== 401) return response;
  const renewal = await renewSession();
  if (renewal === 'renewed') return fetch(await withToken(again, user));
  if (renewal === 'unreachable') throw new TypeError('The session could not be renewed.');
  endSession();
  return response;
}

/** What a user has asked is not asked with the token of another, who may have signed in meanwhile. */
async function withToken(request: Request, user: string | undefined): Promise<Request> {
  const token = await bearerToken();
  if (currentSession()?.userUuid !== user) throw new DOMException('The user has changed.', 'AbortError');
  if (token !== null) request.headers.set('authorization', `Bearer ${token}`);
  return request;
}

/** Downloads what needs the user's token, which a link cannot carry. With a body, by POST. */
export async function saveFile(url: string, name: string, body?: object): Promise<void> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await authorized(new Request(new URL(url, document.baseURI), body === undefined ? {} : post));
  if (!response.ok) throw new ApiError(response, await response.json().catch(() => null));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  // The download has begun once the click returns; the browser keeps the bytes.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The settings of the user's firm, which every role may read. */
export const firmQuery = get(['firm'], '/api/v1/firm');

/** All sampling rules of the firm: it may have a hundred. For an ADMIN. */
export const samplingRulesQuery = get(['sampling-rules'], '/api/v1/sampling-rules', { query: { size: 100 } });

/** The most that a list shows at once. */
const PAGE_SIZE = 100;

export interface Page<Item> {
  readonly count: number;
  readonly items: readonly Item[];
}

/** All items of a list that is short enough to be read as a whole, page by page. */
export async function allPages<Item>(
  fetchPage: (query: { page: number; size: number }) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let page = 1; ; page++) {
    const found = await fetchPage({ page, size: PAGE_SIZE });
    items.push(...found.items);
    if (found.items.length === 0 || page * PAGE_SIZE >= found.count) return items;
  }
}
