import type { ActorInit } from '@call-analysis/proto/key_management/v1/Actor';
import type { Caller } from '../../authentication/caller.ts';

/** The caller in a request to key-management that changes the caller's own firm or its users. */
export function managerOf(caller: Caller, address: string): ActorInit {
  return { user_uuid: caller.userUuid, firm_uuid: caller.firmUuid, role: caller.role, address };
}
