import type { Bus, FailureReason, GiveUpResult } from '@call-analysis/bus';
import { giveUpCall } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { CONSUMER } from './transcribe-call.ts';

const PERMANENT_CODES = new Set(['AUDIO_UNREADABLE', 'INVALID_FILE_FORMAT']);

/** Publishes that a call could not be transcribed, and why. */
export async function giveUpTranscription(
  { db, bus }: { db: Database; bus: Bus },
  event: Event,
  reason: FailureReason,
): Promise<GiveUpResult> {
  return giveUpCall(
    { db, bus, consumer: CONSUMER },
    { source: 'transcription', stage: 'transcription', what: 'Transcription', permanentCodes: PERMANENT_CODES },
    event,
    reason,
  );
}
