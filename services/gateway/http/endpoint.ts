import type { Request, Response } from 'express';
import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import type { Caller, Role } from '../auth/caller.ts';
import { note } from './access-log.ts';
import type { Answer } from './answer.ts';
import { send } from './answer.ts';
import { readForm } from './form.ts';
import type { Form, FormPiece } from './form.ts';
import { readJson } from './json-body.ts';
import { parse, queryOf } from './parse.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Proof = 'none' | 'bearer' | 'api-key';

/** How to find out who is asking, by what an endpoint asks for. */
export type Gates = Record<Exclude<Proof, 'none'>, (request: Request) => Promise<Caller>>;

/** One method on one path, with all that a request must bring. */
export interface Endpoint {
  readonly method: Method;
  /** In the router's notation, as it stands in the log. */
  readonly path: string;
  /** Instead of `path`, where the path must not be decoded. */
  readonly pattern?: RegExp;
  readonly proof: Proof;
  /** Any, when it is left out. */
  readonly roles?: readonly Role[];
  readonly query: z.ZodObject;
  /** A JSON object, a form or nothing. */
  readonly body: z.ZodObject | Form | null;
  readonly handle: (input: Input<unknown, unknown, unknown>) => Promise<Answer | undefined>;
}

export interface Input<Asker, Query, Body> {
  readonly caller: Asker;
  readonly query: Query;
  readonly body: Body;
  /** Named parts of the path, as they were sent. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly request: Request;
  readonly response: Response;
}

type Nothing = z.ZodObject<Record<never, never>>;

/** What a handler is given of a body: a JSON object parsed, a form piece by piece as it comes in. */
type Read<Body> = Body extends z.ZodObject ? z.output<Body> : AsyncIterable<FormPiece>;

/** Ties a handler to what it is given. It returns the answer, or undefined when it has sent the answer itself. */
export function endpoint<
  Asks extends Proof,
  Query extends z.ZodObject = Nothing,
  Body extends z.ZodObject | Form = Nothing,
>(
  definition: Pick<Endpoint, 'method' | 'path' | 'pattern' | 'roles'> & {
    proof: Asks;
    query?: Query;
    body?: Body;
    handle: (
      input: Input<Asks extends 'none' ? null : Caller, z.output<Query>, Read<Body>>,
    ) => Promise<Answer | undefined>;
  },
): Endpoint {
  return {
    ...definition,
    query: definition.query ?? z.strictObject({}),
    body: definition.body ?? null,
    handle: definition.handle as unknown as Endpoint['handle'],
  };
}

/** Checks a request in the order that tells strangers least, then has it handled. */
export async function run(endpoint: Endpoint, gates: Gates, request: Request, response: Response): Promise<void> {
  const caller = endpoint.proof === 'none' ? null : await gates[endpoint.proof](request);
  if (caller !== null) {
    note(request, { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid });
    requireRole(endpoint, caller);
  }
  const query = parse(endpoint.query, queryOf(request.url));
  const body = await read(endpoint.body, request, response);
  const answer = await endpoint.handle({ caller, query, body, params: paramsOf(request), request, response });
  if (answer !== undefined) await send(request, response, answer);
}

async function read(body: Endpoint['body'], request: Request, response: Response): Promise<unknown> {
  if (body === null) return {};
  return 'parts' in body ? readForm(body, request, response) : parse(body, await readJson(request, response));
}

function paramsOf(request: Request): Record<string, string | undefined> {
  // Only a wildcard would give a list, and the only path with one is matched by its pattern.
  return request.params as Record<string, string>;
}

function requireRole(endpoint: Endpoint, caller: Caller): void {
  if (endpoint.roles === undefined || endpoint.roles.includes(caller.role)) return;
  throw new Fault('forbidden', 'FORBIDDEN', `This takes the role ${endpoint.roles.join(' or ')}.`);
}
