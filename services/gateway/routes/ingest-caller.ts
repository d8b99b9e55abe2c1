import type { IncomingMessage } from 'node:http';
import type { CallerInit } from '@call-analysis/proto/ingest/v1/Caller';
import type { Caller } from '../auth/caller.ts';

/** Whose data a request to ingest is about. */
export function callerOf(caller: Caller): CallerInit {
  return { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid };
}

/** The same for what the audit log tells, which says from where it was done. */
export function actorOf(caller: Caller, request: IncomingMessage): CallerInit {
  // An IPv4 client of a dual-stack socket.
  return { ...callerOf(caller), address: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '') };
}
