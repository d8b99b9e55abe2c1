import { bury } from '@call-analysis/bus';
import { CallErased, type Event } from '@call-analysis/events';
import type { Parts } from './extract-recording.ts';
import { removeRecording } from './remove-recording.ts';

export const ERASURES = 'audio.erasures';

/**
 * Stops taking the recording of a call out of its archive and removes it, also from what waits or lies dead here; what
 * comes to its end later is dropped.
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
  await removeRecording(objects, event);
}
