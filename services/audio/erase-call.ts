import { bury } from '@call-analysis/bus';
import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Parts } from './extract-recording.ts';
import { markerKey, recordingKeys } from './recording-key.ts';

export const ERASURES = 'audio.erasures';

/** Stops taking the recording of a call out of its archive and removes it; what comes to its end later is dropped. */
export async function eraseCall(
  { db, objects, inHand }: Pick<Parts, 'db' | 'objects' | 'inHand'>,
  event: Event,
): Promise<void> {
  await db.transaction((tx) => bury(tx, event.firmuuid, event.subject));
  inHand.breakOff(event.subject);
  await removeRecording(objects, event);
}

/** The marker goes last: while it stands, the sweep looks after the recording. */
export async function removeRecording(objects: Objects, { firmuuid, subject }: Event): Promise<void> {
  for (const key of recordingKeys(firmuuid, subject)) {
    await objects.remove(key);
    await objects.remove(markerKey(key));
  }
}
