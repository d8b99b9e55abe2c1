import { Fault } from '@call-analysis/fault';
import type { analysis, audio, desk, ingest, keyManagement, Service, webhooks } from '@call-analysis/proto';
import type { RequestInit } from '@call-analysis/proto/endpoint/v1/Request';
import type { CallerInit } from '@call-analysis/proto/ingest/v1/Caller';
import type { ActorInit } from '@call-analysis/proto/key_management/v1/Actor';
import type { CallOptions, Channel, Client } from '@call-analysis/rpc';
import type { z } from 'zod';
import { type Caller, type Role, seenOperators } from '../authentication/caller.ts';
import {
  type Credentials,
  endpoint,
  type Endpoint,
  type EndpointDefinition,
  type Handler,
  type HandlerInput,
  type HandlerResponse,
  type NoFields,
} from '../http/endpoint.ts';
import type { Form } from '../http/multipart/form.ts';
import type { Tag } from '../http/operation-docs.ts';

type Reached<Definition extends Service<unknown, unknown>> = Client<Definition> & Pick<Channel, 'ready'>;

/** The services that routes call. */
export interface Services {
  readonly keyManagement: Reached<typeof keyManagement>;
  readonly ingest: Reached<typeof ingest>;
  /** Served by ingest. */
  readonly desk: Reached<typeof desk>;
  readonly audio: Reached<typeof audio>;
  readonly analysis: Reached<typeof analysis>;
  readonly webhooks: Reached<typeof webhooks>;
}

/** The caller in a request to a service. */
export function callerOf(caller: Caller): CallerInit {
  return { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid, reads_json: true, ...sightOf(caller) };
}

/** To what the service limits lists and sums. */
function sightOf(caller: Caller): Pick<CallerInit, 'sees_only'> {
  const operator_ids = seenOperators(caller);
  return operator_ids === null ? {} : { sees_only: { operator_ids: [...operator_ids] } };
}

/** The same for an audited action. The audit log also stores the client's address. */
export function actorOf(caller: Caller, address: string): CallerInit {
  return { ...callerOf(caller), address };
}

/** The caller in a request to key-management, which checks the role. */
export function managerOf(caller: Caller, address: string): ActorInit {
  return { user_uuid: caller.userUuid, firm_uuid: caller.firmUuid, role: caller.role, address };
}

/** What a service sends in the API's own shape. Empty: no content. */
export interface Answer {
  readonly json?: Buffer;
}

/** The answer of a service, passed on as it is. */
export function answered(reply: Answer): HandlerResponse {
  const body = jsonOf(reply);
  return body.length === 0 ? { status: 204 } : { headers: { 'content-type': 'application/json' }, body };
}

/** The same for the gateway to complete. */
export function readAnswer<Json>(reply: Answer): Json {
  return JSON.parse(jsonOf(reply).toString()) as Json;
}

function jsonOf({ json }: Answer): Buffer {
  // The services are upgraded before the gateway.
  if (json === undefined) throw new Fault('unavailable', 'UNAVAILABLE', 'The service is being upgraded. Retry.');
  return json;
}

/** The request in proto/endpoint.proto. */
export function requestOf({ caller, params, query, body, address, basedOn }: PassedInput): RequestInit {
  const { firmUuid: firm_uuid, userUuid: user_uuid, role } = caller;
  return {
    caller: { firm_uuid, user_uuid, role, address, ...sightOf(caller) },
    path: Object.values(params).filter((value) => value !== undefined),
    json: JSON.stringify({ ...query, ...body }),
    ...(basedOn !== null && { based_on: basedOn }),
  };
}

/** The handler of an endpoint whose request and answer a service has in the API's own JSON (proto/endpoint.proto). */
export function passTo<Name extends string>(
  service: NoInfer<Readonly<Record<Name, ApiRpc>>>,
  rpc: Name,
  options?: CallOptions,
): (input: PassedInput) => Promise<HandlerResponse> {
  return async (input) => answered(await service[rpc](requestOf(input), options));
}

type ApiRpc = (request: RequestInit, options?: CallOptions) => Promise<Answer>;
export type PassedInput = Pick<
  HandlerInput<Caller, object, object>,
  'caller' | 'query' | 'body' | 'address' | 'basedOn'
> & {
  readonly params: Readonly<Record<string, string | undefined>>;
};

/** The RPCs of a service that have requests and answers in the API's own JSON. */
type ApiRpcOf<Service> = {
  [Name in keyof Service & string]: Service[Name] extends ApiRpc ? Name : never;
}[keyof Service & string];

/** An endpoint without a handler is passed to an RPC: `rpc`, or the one that has the name of the operation. */
type Handling<Service, Handle> =
  | {
      readonly id: ApiRpcOf<Service>;
      readonly rpc?: undefined;
      readonly deadlineMs?: number;
      readonly handle?: undefined;
    }
  | { readonly rpc: ApiRpcOf<Service>; readonly deadlineMs?: number; readonly handle?: undefined }
  | { readonly handle: Handle };

/** Defines endpoints of one service. Each has the `shared` fields where it does not say otherwise. */
export function servedBy<Service, Asks extends Credentials = 'bearer'>(
  service: Service,
  shared: { readonly tag: Tag; readonly roles?: readonly Role[]; readonly credentials?: Asks },
) {
  return <Path extends string, Query extends z.ZodObject = NoFields, Body extends z.ZodObject | Form = NoFields>(
    definition: EndpointDefinition<Path, Asks, Query, Body> & Handling<Service, Handler<Path, Asks, Query, Body>>,
  ): Endpoint => {
    const { rpc, deadlineMs, ...rest } = { rpc: definition.id, deadlineMs: undefined, ...definition };
    const rpcs = service as Readonly<Record<string, ApiRpc>>;
    const options = deadlineMs === undefined ? {} : { deadlineMs };
    const passed = passTo(rpcs, rpc, options) as unknown as Handler<Path, Asks, Query, Body>;
    return endpoint({ ...shared, handle: passed, ...rest });
  };
}

/** Defines endpoints of the gateway itself, which are open to anyone. */
export const ownEndpoint = servedBy({}, { tag: 'Service', credentials: 'none' });
