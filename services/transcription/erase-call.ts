import { bury } from '@call-analysis/bus';
import { CallErased, type Event } from '@call-analysis/events';
import { removeTranscripts } from './remove-transcripts.ts';
import type { Parts } from './transcribe-call.ts';

export const ERASURES = 'transcription.erasures';

/**
 * Stops hearing a call and removes what was heard, also from what waits or lies dead here; what comes to its end later is
 * dropped.
 */
export async function eraseCall(
  { db, bus, objects, inHand }: Pick<Parts, 'db' | 'bus' | 'objects' | 'inHand'>,
  event: Event,
): Promise<void> {
  await db.transaction(async (tx) => {
    await bury(tx, event.firmuuid, event.subject);
    await bus.forget(tx, event.firmuuid, event.subject, CallErased);
  });
  inHand.breakOff(event);
  await removeTranscripts(objects, event);
}
