import type { NewAssignment } from '@call-analysis/api/desk';
import { Fault, notFound } from '@call-analysis/fault';
import { auditEntry, type Person, type Publishing } from '@call-analysis/service';
import type { z } from 'zod';
import type { Calls } from '../calls/call-store.ts';
import { assignments } from './assignment-store.ts';
import type { Disputes } from './dispute-store.ts';

interface Deps extends Publishing {
  readonly calls: Calls;
}

/**
 * Makes the review of a call the task of a user, or of nobody. An ADMIN assigns to anybody, others to themselves alone,
 * and give back what is theirs. Faults: NOT_FOUND, FORBIDDEN.
 */
export async function assignCall(
  { db, calls, bus }: Deps,
  caller: Person,
  callUuid: string,
  { user_uuid: userUuid, due: dueBy }: z.output<typeof NewAssignment>,
) {
  const { firmUuid, userUuid: by, role } = caller;
  const due = dueBy === undefined ? null : new Date(dueBy);
  return db.transaction(async (tx) => {
    await calls.lock(tx, firmUuid, callUuid);
    const former = await assignments.find(tx, firmUuid, callUuid);
    const isOwn = [userUuid, former?.assigned_to ?? null].every((each) => each === null || each === by);
    if (role !== 'ADMIN' && !isOwn)
      throw new Fault('forbidden', 'FORBIDDEN', 'Only an ADMIN assigns calls to others. Assign it to yourself.');
    const isNobodys = userUuid === null;
    const assignment = { call_uuid: callUuid, assigned_to: userUuid, due: isNobodys ? null : due, by, at: new Date() };
    if (isNobodys) await assignments.remove(tx, firmUuid, callUuid);
    else await assignments.set(tx, firmUuid, assignment);
    await bus.publish(tx, [auditEntry('ingest', caller, 'call.assigned', callUuid)]);
    return assignment;
  });
}

/** Notes that the review of a call has been read. Faults: NOT_FOUND; INVALID_TRANSITION without a review. */
export async function acknowledgeReview({ db, calls, bus }: Deps, caller: Person, callUuid: string) {
  const { firmUuid, userUuid } = caller;
  return db.transaction(async (tx) => {
    const { reviewed_at: reviewedAt } = await calls.lock(tx, firmUuid, callUuid);
    if (reviewedAt === null) {
      const message = 'Nobody has reviewed this call. A review can be acknowledged once it is there.';
      throw new Fault('conflict', 'INVALID_TRANSITION', message);
    }
    const now = new Date();
    const acknowledged = await assignments.acknowledge(tx, firmUuid, callUuid, { by: userUuid, at: now, reviewedAt });
    if (acknowledged.acknowledged_at.getTime() === now.getTime())
      await bus.publish(tx, [auditEntry('ingest', caller, 'call.review_acknowledged', callUuid)]);
    return acknowledged;
  });
}

/** Whose task a call is, who has acknowledged its review, and its disputes. Fault: NOT_FOUND. */
export async function readCallDesk(
  { db, calls, disputes }: Omit<Deps, 'bus'> & { readonly disputes: Disputes },
  { firmUuid }: Person,
  callUuid: string,
) {
  if ((await calls.known(firmUuid, [callUuid])).length === 0) throw notFound('call');
  const [assignment, acknowledgement, disputed] = await Promise.all([
    assignments.find(db, firmUuid, callUuid),
    assignments.acknowledged(db, firmUuid, callUuid),
    disputes.ofCall(firmUuid, callUuid),
  ]);
  return { assignment, acknowledgement, disputes: disputed };
}
