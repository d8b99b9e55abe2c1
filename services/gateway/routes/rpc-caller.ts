import { Fault } from '@call-analysis/fault';
import type { RequestInit } from '@call-analysis/proto/endpoint/v1/Request';
import type { CallerInit } from '@call-analysis/proto/ingest/v1/Caller';
import type { CallOptions } from '@call-analysis/rpc';
import { type Caller, seenOperators } from '../authentication/caller.ts';
import type { HandlerInput, HandlerResponse } from '../http/endpoint.ts';

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
