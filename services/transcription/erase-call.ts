import { removePackedTranscripts, stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Parts } from './transcribe-call.ts';

export const ERASURES = 'transcription.erasures';

/**
 * Stops hearing a call and removes what was heard, also from what waits or lies dead here; what comes to its end later is
 * dropped.
 */
export async function eraseCall(
  { db, bus, objects, inProgress }: Pick<Parts, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event,
): Promise<void> {
  await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
  });
  inProgress.abort(event);
  await removePackedTranscripts(objects, event.firmuuid, event.subject);
}
