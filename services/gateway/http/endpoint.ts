import type { IncomingMessage } from 'node:http';
import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import type { Caller, Role } from '../authentication/caller.ts';
import type { About } from '../openapi/operation.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { type Form, type FormPiece, readForm } from './multipart/form.ts';
import { readJson, readJsonIfAny } from './request/json-body.ts';
import { parse, queryOf } from './request/parse.ts';
import type { EdgeResponse } from './response/edge-response.ts';
import { type Answer, send } from './response/json-response.ts';
import type { Params } from './router.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Proof = 'none' | 'bearer' | 'api-key';

/** How to find out who is asking, by what an endpoint asks for; at once when it is known already. */
export type Gates = Record<Exclude<Proof, 'none'>, (request: IncomingMessage) => Caller | Promise<Caller>>;

/** One method on one path, with all that a request must bring. */
export interface Endpoint {
  readonly method: Method;
  /** `/calls/:uuid`, or `/files/*key` for any number of parts; as it stands in the log. */
  readonly path: string;
  readonly proof: Proof;
  /** Any, when it is left out. */
  readonly roles?: readonly Role[];
  readonly query: z.ZodObject;
  /** What `query` makes of no query at all, when that is allowed. */
  readonly unasked: unknown;
  /** A JSON object, a form or nothing; null, too, where the handler reads bytes by itself. */
  readonly body: z.ZodObject | Form | null;
  /** Answers however many requests come: those that watch over the service must not be kept from it. */
  readonly unlimited?: boolean;
  /** For the OpenAPI document; it has the rest from the fields above. */
  readonly about: About;
  readonly handle: (input: Input<unknown, unknown, unknown>) => Promise<Answer | undefined>;
}

export interface Input<Asker, Query, Body> extends Arrived {
  readonly caller: Asker;
  readonly query: Query;
  readonly body: Body;
}

/** A request that has found its way. */
export interface Arrived {
  readonly params: Params;
  /** Where it comes from. */
  readonly address: string;
  readonly request: IncomingMessage;
  readonly response: EdgeResponse;
}

type Nothing = z.ZodObject<Record<never, never>>;

const NO_FIELDS = z.strictObject({});

/** What a handler is given of a body: a JSON object parsed, a form piece by piece as it comes in. */
type Read<Body> = Body extends z.ZodObject ? z.output<Body> : AsyncIterable<FormPiece>;

/** Ties a handler to what it is given. It returns the answer, or undefined when it has sent the answer itself. */
export function endpoint<
  Asks extends Proof,
  Query extends z.ZodObject = Nothing,
  Body extends z.ZodObject | Form = Nothing,
>(
  definition: Pick<Endpoint, 'method' | 'path' | 'roles' | 'unlimited' | 'about'> & {
    proof: Asks;
    query?: Query;
    body?: Body;
    handle: (
      input: Input<Asks extends 'none' ? null : Caller, z.output<Query>, Read<Body>>,
    ) => Promise<Answer | undefined>;
  },
): Endpoint {
  const query: z.ZodObject = definition.query ?? z.strictObject({});
  return {
    ...definition,
    query,
    unasked: query.safeParse({}).data,
    body: definition.body ?? null,
    handle: definition.handle as unknown as Endpoint['handle'],
  };
}

/** What stands before every endpoint. */
export interface Entrance {
  readonly gates: Gates;
  readonly limits: RateLimits;
  /** What the request's address is counted with. */
  readonly network: string;
}

/** Checks a request in the order that tells strangers least, then has it handled. Waits for nothing that is there already. */
export async function run(endpoint: Endpoint, at: Entrance, arrived: Arrived): Promise<void> {
  const { request, response } = arrived;
  const proving = endpoint.proof === 'none' ? null : prove(at, endpoint.proof, request);
  const caller = proving instanceof Promise ? await proving : proving;
  if (caller !== null) {
    response.notes.firm_uuid = caller.firmUuid;
    response.notes.user_uuid = caller.userUuid;
    if (endpoint.path.includes('/calls/:')) Object.assign(response.notes, callOf(endpoint, arrived.params));
    at.limits.identify(caller.firmUuid, response);
    requireRole(endpoint, caller);
  }
  const query = request.url?.includes('?')
    ? parse(endpoint.query, queryOf(request.url))
    : (endpoint.unasked ?? parse(endpoint.query, {}));
  let body: unknown = {};
  if (endpoint.body !== null) body = await read(endpoint.body, request, response);
  else if (endpoint.about.bytes === undefined) {
    const sent = readJsonIfAny(request, response);
    if (sent instanceof Promise) parse(NO_FIELDS, await sent);
  }
  const answer = await endpoint.handle({ caller, query, body, ...arrived });
  return answer === undefined ? undefined : send(request, response, answer);
}

function prove(
  { gates, limits, network }: Entrance,
  proof: Exclude<Proof, 'none'>,
  request: IncomingMessage,
): Caller | Promise<Caller> {
  const refuse = (error: unknown): never => {
    const isRefused = error instanceof Fault && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
    if (isRefused) limits.fail(network);
    throw error;
  };
  try {
    const caller = gates[proof](request);
    return caller instanceof Promise ? caller.catch(refuse) : caller;
  } catch (error) {
    return refuse(error);
  }
}

async function read(body: z.ZodObject | Form, request: IncomingMessage, response: EdgeResponse): Promise<unknown> {
  return 'parts' in body ? readForm(body, request, response) : parse(body, await readJson(request, response));
}

/** Of the route's own call, when the path has one; what is no uuid is nobody's call, and not for the log. */
function callOf({ path }: Endpoint, params: Params): { call_uuid?: string } {
  const name = /\/calls\/:(\w+)/.exec(path)?.[1];
  const value = name === undefined ? undefined : params[name];
  return value !== undefined && UUID.test(value) ? { call_uuid: value } : {};
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function requireRole(endpoint: Endpoint, caller: Caller): void {
  if (endpoint.roles === undefined || endpoint.roles.includes(caller.role)) return;
  throw new Fault('forbidden', 'FORBIDDEN', `This takes the role ${endpoint.roles.join(' or ')}.`);
}
