import { stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Parts } from './archives/extract-recording.ts';
import { removeRecording } from './recordings/remove-recording.ts';

export const ERASURES = 'audio.erasures';

/**
 * Stops taking the recording of a call out of its archive and removes it, also from what waits or lies dead here; what
 * comes to its end later is dropped.
 */
export async function eraseCall(
  { db, bus, objects, inProgress }: Pick<Parts, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event,
): Promise<void> {
  await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
  });
  inProgress.abort(event);
  await removeRecording(objects, event);
}
