import { notFound } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { Calls } from '../calls/call-store.ts';
import { assignments } from './assignment-store.ts';
import type { DeskCaller } from './caller.ts';
import type { Disputes } from './dispute-store.ts';

interface Deps {
  readonly db: Database;
  readonly calls: Calls;
  readonly disputes: Disputes;
}

/** Whose task a call is, who has acknowledged its review, and its disputes. Fault: NOT_FOUND. */
export async function readCallDesk({ db, calls, disputes }: Deps, { firmUuid }: DeskCaller, callUuid: string) {
  if ((await calls.known(firmUuid, [callUuid])).length === 0) throw notFound('call');
  const [assignment, acknowledged, disputed] = await Promise.all([
    assignments.find(db, firmUuid, callUuid),
    assignments.acknowledged(db, firmUuid, callUuid),
    disputes.ofCall(firmUuid, callUuid),
  ]);
  return {
    assignment: assignment && {
      call_uuid: callUuid,
      assigned_to: assignment.userUuid,
      due: assignment.due,
      by: assignment.by,
      at: assignment.at,
    },
    acknowledgement: acknowledged && {
      call_uuid: callUuid,
      acknowledged_by: acknowledged.by,
      acknowledged_at: acknowledged.at,
    },
    disputes: disputed,
  };
}
