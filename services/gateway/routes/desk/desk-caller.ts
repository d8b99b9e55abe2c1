import type { Answer } from '@call-analysis/proto/desk/v1/Answer';
import type { CallerInit } from '@call-analysis/proto/desk/v1/Caller';
import type { Caller } from '../../authentication/caller.ts';

/** The caller in a request to the desk. */
export function callerOf(caller: Caller, address: string): CallerInit {
  return { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid, role: caller.role, address };
}

/** Ingest answers in the API's own shape. */
export function answered({ json }: Answer, status = 200): { status: number; body: Record<string, unknown> } {
  return { status, body: JSON.parse(json) as Record<string, unknown> };
}
