import type { CallerInit } from '@call-analysis/proto/desk/v1/Caller';
import type { Caller } from '../../authentication/caller.ts';
import { sightOf } from '../rpc-caller.ts';

/** The caller in a request to the desk. */
export function callerOf(caller: Caller, address: string): CallerInit {
  const { firmUuid: firm_uuid, userUuid: user_uuid, role } = caller;
  return { firm_uuid, user_uuid, role, address, ...sightOf(caller) };
}

export { answered } from '../rpc-caller.ts';
