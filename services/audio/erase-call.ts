import { stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Deps } from './extract-recording.ts';
import { removeRecording } from './recordings/recording-objects.ts';

/**
 * Stops the extraction of a call's recording, and removes the recording and the call's pending events and dead letters.
 * An extraction that still finishes later keeps nothing.
 */
export async function eraseCall(
  { db, bus, objects, inProgress }: Pick<Deps, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event,
): Promise<void> {
  await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
  });
  inProgress.abort(event);
  await removeRecording(objects, event);
}
