import type { CallerInit } from '@call-analysis/proto/ingest/v1/Caller';
import type { Caller } from '../authentication/caller.ts';

/** Whose data a request to ingest is about. */
export function callerOf(caller: Caller): CallerInit {
  return { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid };
}

/** The same for what the audit log tells, which says from which address it was done. */
export function actorOf(caller: Caller, address: string): CallerInit {
  return { ...callerOf(caller), address };
}
