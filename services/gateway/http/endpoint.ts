import { Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { IRouter, Request } from 'express';
import { z } from 'zod';
import { type Caller, DEFAULT_ROLES, type Role } from '../authentication/caller.ts';
import { type Form, type FormPiece, readForm } from './multipart/form.ts';
import type { OperationDocs, Tag } from './operation-docs.ts';
import type { Admission, Lane } from './rate-limits/admission.ts';
import type { RateLimits } from './rate-limits/rate-limits.ts';
import { revisionInIfMatch } from './request/if-match.ts';
import { hasBody, readJson } from './request/json-body.ts';
import { parse, parseQuery, pathUuid, queryOf } from './request/parse.ts';
import { HttpError } from './response/http-error.ts';
import { type JsonResponse, type Response, send } from './response/send.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** How a caller identifies itself. */
export type Credentials = 'none' | 'bearer' | 'api-key';

/** Identifies the caller of a request. */
export type Authentication = Record<Exclude<Credentials, 'none'>, (request: Request) => Promise<Caller>>;

/** One method on one path, with everything that a request must send. */
export interface Endpoint {
  readonly method: Method;
  /** An express path: `/calls/:uuid`, or `/files/*key` for any number of segments. It is logged as it is. */
  readonly path: string;
  readonly credentials: Credentials;
  /** Of callers who may use it. Without credentials it is open to anyone. */
  readonly roles: readonly Role[];
  readonly query: z.ZodObject;
  /** A JSON object, a form, or nothing. Also null where the handler reads bytes itself. */
  readonly body: z.ZodObject | Form | null;
  /** A request without a body counts as `{}`. Only for a JSON object whose fields all have harmless defaults. */
  readonly optionalBody?: boolean;
  /** Not rate limited: monitoring must always get through. */
  readonly unlimited?: boolean;
  /** The limit that a request in progress counts towards. Default: uploads for a form, otherwise requests. */
  readonly lane?: Lane;
  /** For the OpenAPI document, which takes the rest from the fields above. */
  readonly docs: OperationDocs;
  readonly handle: (input: HandlerInput<unknown, unknown, unknown>) => Promise<JsonResponse | undefined>;
}

export interface HandlerInput<WhoCalls, Query, Body> {
  readonly request: Request;
  readonly response: Response;
  readonly params: Params;
  readonly caller: WhoCalls;
  readonly query: Query;
  readonly body: Body;
  /** The client's address. */
  readonly address: string;
  /** The revision in `If-Match`, where the endpoint declares this header; null without it. */
  readonly basedOn: number | null;
  /** Waits until an upload of this firm may begin. For handlers that find out themselves whose it is. */
  readonly beginUpload: (firmUuid: string) => Promise<void>;
}

/** Named segments of the path, decoded. Endpoints with a wildcard read it from the URL. */
export type Params = Readonly<Record<string, string | undefined>>;

/** The parameters of a path. Where the documentation names no other schema, each is a uuid. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [Key in Name]: string }
    : Params;

export type NoFields = z.ZodObject<Record<never, never>>;

const NO_FIELDS = z.strictObject({});

/** The body that a handler gets: a parsed JSON object, or a form, piece by piece as it arrives. */
type ReadBody<Body> = Body extends z.ZodObject ? z.output<Body> : AsyncIterable<FormPiece>;

/** An answer. Without a status it has the first one that is documented. */
export type HandlerResponse = Omit<JsonResponse, 'status'> & { readonly status?: number };

/** What defines an endpoint, besides its handler. */
export type EndpointDefinition<
  Path extends string,
  Asks extends Credentials,
  Query extends z.ZodObject,
  Body extends z.ZodObject | Form,
> = Omit<OperationDocs, 'tag'> &
  Partial<Pick<OperationDocs, 'tag'>> &
  Pick<Endpoint, 'method' | 'optionalBody' | 'unlimited' | 'lane'> & {
    path: Path;
    /** Default: bearer. */
    credentials?: Asks;
    /** Default: those of the specification. */
    roles?: readonly Role[];
    query?: Query;
    body?: Body;
  };

/** Returns the response, or undefined when it has sent the response itself. */
export type Handler<
  Path extends string,
  Asks extends Credentials,
  Query extends z.ZodObject,
  Body extends z.ZodObject | Form,
> = (
  input: Omit<HandlerInput<Asks extends 'none' ? null : Caller, z.output<Query>, ReadBody<Body>>, 'params'> & {
    readonly params: ParamsOf<Path>;
  },
) => Promise<HandlerResponse | undefined>;

/** Defines an endpoint. */
export function endpoint<
  Path extends string,
  Asks extends Credentials = 'bearer',
  Query extends z.ZodObject = NoFields,
  Body extends z.ZodObject | Form = NoFields,
>(
  definition: EndpointDefinition<Path, Asks, Query, Body> & { tag: Tag; handle: Handler<Path, Asks, Query, Body> },
): Endpoint {
  const handle = definition.handle as unknown as (
    input: HandlerInput<unknown, unknown, unknown>,
  ) => Promise<HandlerResponse | undefined>;
  const [status = '200'] = Object.keys(definition.responses);
  const uuids = uuidsIn(definition);
  const ifMatch = definition.headers?.['If-Match'];
  return {
    ...definition,
    credentials: definition.credentials ?? 'bearer',
    roles: definition.roles ?? DEFAULT_ROLES,
    query: definition.query ?? NO_FIELDS,
    body: definition.body ?? null,
    docs: definition,
    async handle(input) {
      const given = Object.entries(uuids).map(([name, thing]) => [name, pathUuid(input.params[name], thing)]);
      const params = { ...input.params, ...Object.fromEntries(given) };
      const basedOn = ifMatch === undefined ? null : revisionInIfMatch(input.request, ifMatch.schema);
      const answer = await handle({ ...input, params, basedOn });
      return answer && { status: Number(status), ...answer };
    },
  };
}

/** The parameters of a path that are uuids, and what each names, in the words of NOT_FOUND. */
function uuidsIn({ path, params = {} }: { readonly path: string } & OperationDocs): Readonly<Record<string, string>> {
  const found = Array.from(path.matchAll(/([\w-]+)\/:(\w+)/g), ([, list = '', name = '']) => [name, itemOf(list)]);
  return Object.fromEntries(found.filter(([name = '']) => params[name] === undefined));
}

/** `batches` of a path has items of the name "batch". */
function itemOf(list: string): string {
  if (list === 'rejected') return 'file of refused rows';
  const words = list.replace('call-campaign', 'campaign').replaceAll('-', ' ');
  return words.endsWith('ies') ? `${words.slice(0, -3)}y` : words.replace(/(?<=ch)es$|s$/, '');
}

export interface AccessChecks {
  readonly authentication: Authentication;
  readonly limits: RateLimits;
  readonly admission: Admission;
}

/**
 * Registers endpoints with express. Every path also answers OPTIONS with its methods, and refuses other methods with 405.
 * HEAD is GET without the body.
 */
export function registerEndpoints(router: IRouter, endpoints: readonly Endpoint[], checks: AccessChecks): void {
  for (const [path, onPath] of byPath(endpoints)) {
    const methods = onPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const allow = [...methods, 'OPTIONS'].join(', ');
    const route = router.route(path).all((_request, response: Response, next) => {
      response.locals.logFields.route = path;
      next();
    });
    for (const endpoint of onPath) {
      const method = endpoint.method.toLowerCase() as Lowercase<Method>;
      route[method]((request, response: Response) => handleRequest(endpoint, checks, request, response));
    }
    route.options((_request, response: Response) => {
      response.setHeader('allow', allow);
      const isPreflight = response.hasHeader('access-control-allow-methods');
      if (isPreflight) response.setHeader('access-control-allow-methods', allow);
      return send(response, { status: 204 });
    });
    route.all(() => {
      throw new HttpError(405, 'METHOD_NOT_ALLOWED', `This address accepts ${allow}.`, { allow });
    });
  }
}

/** Express takes the first path that matches, so `/calls/batches` comes before `/calls/:uuid`. */
function byPath(endpoints: readonly Endpoint[]): [path: string, endpoints: Endpoint[]][] {
  const parametersLast = (path: string) => path.replaceAll(/[:*]/g, '~');
  return [...Map.groupBy(endpoints, ({ path }) => path)].sort(([a], [b]) =>
    parametersLast(a) < parametersLast(b) ? -1 : 1,
  );
}

/** Checks a request and has it handled. The order of the checks reveals the least to unauthenticated callers. */
async function handleRequest(
  endpoint: Endpoint,
  checks: AccessChecks,
  request: Request,
  response: Response,
): Promise<void> {
  const params = request.params as Params;
  const { client, logFields } = response.locals;
  const caller =
    endpoint.credentials === 'none' ? null : await authenticate(checks, endpoint.credentials, request, response);
  if (caller !== null) {
    Object.assign(logFields, { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid });
    Object.assign(logFields, loggedCall(endpoint, params));
    checks.limits.countFirm(caller.firmUuid, response);
    requireRole(endpoint, caller);
  }
  const query = parseQuery(endpoint.query, queryOf(request.url));
  const begin = (lane: Lane, firmUuid: string) => checks.admission.begin(lane, firmUuid, response);
  const lane = endpoint.lane ?? (endpoint.body !== null && 'parts' in endpoint.body ? 'uploads' : 'requests');
  if (caller !== null && (lane === 'uploads' || hasLargeBody(request))) await begin('uploads', caller.firmUuid);
  const body = await readBody(endpoint, request, response);
  // After the body has arrived, so that a client that sends slowly delays no other request of its firm.
  if (caller !== null && lane === 'requests') await begin('requests', caller.firmUuid);
  const beginUpload = (firmUuid: string) => begin('uploads', firmUuid);
  const { address } = client;
  const input = { request, response, params, caller, query, body, address, basedOn: null, beginUpload };
  const result = await endpoint.handle(input);
  if (result !== undefined) await send(response, result);
}

/**
 * The answer of another endpoint that only reads JSON, for the caller of a request that has passed the checks of its
 * own endpoint. Parameters are as a URL has them.
 */
export async function answerWithin(
  endpoint: Endpoint,
  input: HandlerInput<Caller, unknown, unknown>,
  params: Params,
  query: Readonly<Record<string, string | string[]>>,
): Promise<unknown> {
  requireRole(endpoint, input.caller);
  const answer = await endpoint.handle({ ...input, params, query: parseQuery(endpoint.query, query), body: {} });
  const body = answer?.body;
  return Buffer.isBuffer(body) ? JSON.parse(body.toString()) : body;
}

async function authenticate(
  { authentication, limits }: AccessChecks,
  credentials: Exclude<Credentials, 'none'>,
  request: Request,
  response: Response,
): Promise<Caller> {
  try {
    return await authentication[credentials](request);
  } catch (error) {
    const isRefused = error instanceof Fault && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
    if (isRefused) limits.countFailedAuthentication(response.locals.client.network, response);
    throw error;
  }
}

async function readBody(
  { body, optionalBody, docs }: Endpoint,
  request: Request,
  response: Response,
): Promise<unknown> {
  if (body === null) {
    if (docs.bytes !== undefined || !hasBody(request)) return {};
    return parse(NO_FIELDS, await readJson(request, response, { isOptional: true }));
  }
  if ('parts' in body) return readForm(body, request, response);
  return parse(body, await readJson(request, response, { isOptional: optionalBody }));
}

/** Whether the body may be large. It is in memory while the request waits. */
function hasLargeBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BODY_BYTES;
}

const LARGE_BODY_BYTES = 64 * 1024;

/** The parameter of a path that names a call. Undefined without one. */
export function callParameter(path: string): string | undefined {
  return path.includes('/calls/:') ? /\/calls\/:(\w+)/.exec(path)?.[1] : undefined;
}

/** A value that is not a uuid names no call and is not logged. */
function loggedCall({ path }: Endpoint, params: Params): { call_uuid?: string } {
  const value = params[callParameter(path) ?? ''];
  return value !== undefined && Uuid.safeParse(value).success ? { call_uuid: value } : {};
}

function requireRole(endpoint: Endpoint, caller: Caller): void {
  if (endpoint.roles.includes(caller.role)) return;
  throw new Fault('forbidden', 'FORBIDDEN', `This requires the role ${endpoint.roles.join(' or ')}.`);
}
