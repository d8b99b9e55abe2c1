import { type Bus, type DeadReason, giveUpCall, type Obituary } from '@call-analysis/bus';
import type { Event } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { CONSUMER } from './transcribe-call.ts';

const LASTING = new Set(['AUDIO_UNREADABLE', 'INVALID_FILE_FORMAT']);

/** Says of a call that nobody could hear it, and why. */
export async function giveUpTranscription(
  { db, bus }: { db: Database; bus: Bus },
  event: Event,
  reason: DeadReason,
): Promise<Obituary> {
  const what = 'Hearing the recording';
  return giveUpCall({ db, bus, consumer: CONSUMER }, { source: 'transcription', stage: 'transcription', what, lasting: LASTING }, event, reason);
}
