import type { CallerInit } from '@call-analysis/proto/ingest/v1/Caller';
import { type Caller, seenOperators } from '../authentication/caller.ts';

/** The caller in a request to a service. */
export function callerOf(caller: Caller): CallerInit {
  return { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid, ...sightOf(caller) };
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
