import { Fault } from '@call-analysis/fault';
import type { CallerInit } from '@call-analysis/proto/ingest/v1/Caller';
import { type Caller, seenOperators } from '../authentication/caller.ts';
import type { JsonResponse } from '../http/response/send.ts';

/** The caller in a request to a service. */
export function callerOf(caller: Caller): CallerInit {
  return { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid, reads_json: true, ...sightOf(caller) };
}

/** To what the service limits lists and sums. */
export function sightOf(caller: Caller): Pick<CallerInit, 'sees_only'> {
  const operator_ids = seenOperators(caller);
  return operator_ids === null ? {} : { sees_only: { operator_ids: [...operator_ids] } };
}

/** The same for an audited action. The audit log also stores the client's address. */
export function actorOf(caller: Caller, address: string): CallerInit {
  return { ...callerOf(caller), address };
}

/** What a service sends in the API's own shape. */
interface Answer {
  readonly json?: Buffer | string;
}

/** The answer of a service, passed on as it is. */
export function answered(reply: Answer, status = 200): JsonResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(jsonOf(reply)) };
}

/** The same for the gateway to complete. */
export function readAnswer<Json>(reply: Answer): Json {
  return JSON.parse(jsonOf(reply).toString()) as Json;
}

function jsonOf({ json }: Answer): Buffer | string {
  // Ingest is upgraded before the gateway.
  if (json === undefined) throw new Fault('unavailable', 'UNAVAILABLE', 'The service is being upgraded. Retry.');
  return json;
}
