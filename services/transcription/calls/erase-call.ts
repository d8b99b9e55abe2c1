import { removePackedTranscripts, stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { TranscriptionParts } from './transcribe-call.ts';

/**
 * Stops the transcription of a call and removes its transcripts, pending events and dead letters. A transcription that ends
 * later is discarded.
 */
export async function eraseCall(
  { db, bus, objects, inProgress }: Pick<TranscriptionParts, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event,
): Promise<void> {
  await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
  });
  inProgress.abort(event);
  await removePackedTranscripts(objects, event.firmuuid, event.subject);
}
