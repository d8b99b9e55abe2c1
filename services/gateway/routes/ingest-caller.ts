import type { CallerInit } from '@call-analysis/proto/ingest/v1/Caller';
import type { Caller } from '../auth/caller.ts';

/** Whose data a request to ingest is about. */
export function callerOf(caller: Caller): CallerInit {
  return { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid };
}
