import { writeTombstone } from '@call-analysis/call-processing';
import type { BodyOf, CallsCanceled, Event } from '@call-analysis/events';
import type { Parts } from './transcribe-call.ts';

/** Stops hearing calls that were canceled. A canceled call is never begun again, so it is dropped as an erased one is. */
export async function cancelCalls(
  { db, inProgress }: Pick<Parts, 'db' | 'inProgress'>,
  { firmuuid, data }: Event<BodyOf<typeof CallsCanceled>>,
): Promise<void> {
  for (const call of data.calls) {
    // One by one: a burial keeps others waiting until its transaction ends.
    await db.transaction((tx) => writeTombstone(tx, firmuuid, call));
    inProgress.abort({ firmuuid, subject: call });
  }
}
