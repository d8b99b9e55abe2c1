import { bury } from '@call-analysis/bus';
import type { BodyOf, CallsCanceled, Event } from '@call-analysis/events';
import type { Parts } from './transcribe-call.ts';

/** Stops hearing calls that were canceled. A canceled call is never begun again, so it is dropped as an erased one is. */
export async function cancelCalls(
  { db, inHand }: Pick<Parts, 'db' | 'inHand'>,
  { firmuuid, data }: Event<BodyOf<typeof CallsCanceled>>,
): Promise<void> {
  for (const call of data.calls) {
    // One by one: a burial keeps others waiting until its transaction ends.
    await db.transaction((tx) => bury(tx, firmuuid, call));
    inHand.breakOff({ firmuuid, subject: call });
  }
}
