import type { Bus } from '@call-analysis/bus';
import { Uuid, AuditEntryAdded, type BodyOf, createEvent, type Event } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import type { Answer } from '@call-analysis/proto/endpoint/v1/Answer';
import type { Request } from '@call-analysis/proto/endpoint/v1/Request';
import { z } from 'zod';

/** What an action needs that publishes events in its transaction. */
export interface Publishing {
  readonly db: Database;
  readonly bus: Bus;
}

/** The page of a list that is asked for. */
export const PageRequest = z.object({ page: z.int().min(1), size: z.int().min(1).max(100) });

/** `Caller` of every service's .proto file: the user for whom a request is made. */
interface CallerMessage {
  readonly firm_uuid: string;
  readonly user_uuid: string;
  /** Absent where the action is not recorded. */
  readonly address?: string | undefined;
}

/** The user for whom the gateway sends a request. Throws a zod error when the request does not say. */
export function requireCaller(caller: CallerMessage | null | undefined): Actor {
  return {
    firmUuid: Uuid.parse(caller?.firm_uuid),
    userUuid: Uuid.parse(caller?.user_uuid),
    address: caller?.address ?? '',
  };
}

/** The person who makes a request of the API. The gateway has checked the general rights of the role. */
export interface Person extends Actor {
  readonly role: string;
  /** The operator ids of the calls that the person sees. Null: all calls of the firm. */
  readonly seenOperators: readonly string[] | null;
}

/** A request of the API. Each of its parts throws a zod error when it does not have its form. */
export interface ApiRequest {
  readonly caller: Person;
  /** The first parameter of its path, and the second. */
  readonly uuid: string;
  readonly partUuid: string;
  /** The revision that the person has read; null: not said. */
  readonly basedOn: number | null;
  /** Its body, or its query, by the schema that the gateway has parsed it by. */
  read<Schema extends z.ZodType>(schema: Schema): z.output<Schema>;
}

/** A request of proto/endpoint.proto. */
export function apiRequest({ caller, path, json, based_on }: Request): ApiRequest {
  return {
    caller: {
      ...requireCaller(caller),
      role: caller?.role ?? '',
      seenOperators: caller?.sees_only?.operator_ids ?? null,
    },
    get uuid() {
      return Uuid.parse(path[0]);
    },
    get partUuid() {
      return Uuid.parse(path[1]);
    },
    basedOn: based_on ?? null,
    read: (schema) => schema.parse(JSON.parse(json)),
  };
}

/** An RPC of proto/endpoint.proto. What `handle` returns is the answer of the API; undefined is 204. */
export function apiRpc(handle: (request: ApiRequest) => Promise<unknown>) {
  return async (request: Request): Promise<Answer> => {
    const answer = await handle(apiRequest(request));
    return { json: Buffer.from(answer === undefined ? '' : JSON.stringify(answer)) };
  };
}

/** The user who performs an action. */
export interface Actor {
  readonly firmUuid: string;
  readonly userUuid: string;
  /** Network address. */
  readonly address: string;
}

/**
 * An entry for the firm's audit log, published by the service `source`. Publish it in the transaction of the action, so
 * that both happen or neither. An action has two names: `call.erased`.
 */
export function auditEntry(
  source: string,
  { firmUuid, userUuid, address }: Actor,
  action: string,
  subject: string,
): Event<BodyOf<typeof AuditEntryAdded>> {
  return createEvent(source, AuditEntryAdded, subject, { firmuuid: firmUuid }, { actor: userUuid, action, address });
}

/** What a value is once it was JSON. */
export type Sent<Value> = Value extends Date
  ? string
  : Value extends object
    ? { -readonly [Name in keyof Value]: Sent<Value[Name]> }
    : Value;

/**
 * The API's own JSON, which the gateway passes on, as the reply of an RPC that the last release has. `formerly`: the fields of the
 * message, which a gateway of the last release reads instead.
 */
export function answer<Json, Reply>(
  caller: { readonly reads_json?: boolean } | null,
  json: Json,
  formerly: (json: Sent<Json>) => Reply,
): Reply {
  const text = JSON.stringify(json);
  return caller?.reads_json === true
    ? ({ json: Buffer.from(text) } as Reply)
    : formerly(JSON.parse(text) as Sent<Json>);
}

/** Leaves out null fields: messages have no nulls. */
export function present<Fields extends object>(fields: Fields): { [Name in keyof Fields]: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]: NonNullable<Fields[Name]>;
  };
}
