import { removePackedTranscripts, stopProcessing, writeTombstone } from '@call-analysis/call-processing';
import type { Event, BodyOf, CallsCanceled } from '@call-analysis/events';
import type { TranscriptionDeps } from './transcribe-call.ts';

/**
 * Stops the transcription of a call and removes its transcripts, pending events and dead letters. A transcription that ends
 * later is discarded.
 */
export async function eraseCall(
  { db, bus, objects, inProgress }: Pick<TranscriptionDeps, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event,
): Promise<void> {
  await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
  });
  inProgress.abort(event);
  await removePackedTranscripts(objects, event.firmuuid, event.subject);
}

/**
 * Stops the transcription of canceled calls. A canceled call is never started again, so it gets a tombstone like an erased
 * one.
 */
export async function cancelCalls(
  { db, inProgress }: Pick<TranscriptionDeps, 'db' | 'inProgress'>,
  { firmuuid, data }: Event<BodyOf<typeof CallsCanceled>>,
): Promise<void> {
  if (data.source !== 'audio') return;
  for (const call of data.calls) {
    // One transaction per call: writing a tombstone blocks other transactions until it ends.
    await db.transaction((tx) => writeTombstone(tx, firmuuid, call));
    inProgress.abort({ firmuuid, subject: call });
  }
}
