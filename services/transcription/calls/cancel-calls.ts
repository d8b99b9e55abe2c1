import { writeTombstone } from '@call-analysis/call-processing';
import type { BodyOf, CallsCanceled, Event } from '@call-analysis/events';
import type { TranscriptionParts } from './transcribe-call.ts';

/**
 * Stops the transcription of canceled calls. A canceled call is never started again, so it gets a tombstone like an erased
 * one.
 */
export async function cancelCalls(
  { db, inProgress }: Pick<TranscriptionParts, 'db' | 'inProgress'>,
  { firmuuid, data }: Event<BodyOf<typeof CallsCanceled>>,
): Promise<void> {
  for (const call of data.calls) {
    // One transaction per call: writing a tombstone blocks other transactions until it ends.
    await db.transaction((tx) => writeTombstone(tx, firmuuid, call));
    inProgress.abort({ firmuuid, subject: call });
  }
}
