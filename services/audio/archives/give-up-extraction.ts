import { type FailureReason, type GiveUpResult } from '@call-analysis/bus';
import { giveUpCall } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import { CONSUMER, type Parts } from './extract-recording.ts';

const PERMANENT_CODES = new Set([
  'ARCHIVE_MISSING',
  'ENTRY_CORRUPT',
  'INVALID_FILE_FORMAT',
  'AUDIO_UNREADABLE',
  'AUDIO_NOT_STEREO',
]);

/** Says of a call that its recording could not be had, and why. */
export async function giveUpExtraction({ db, bus }: Parts, event: Event, reason: FailureReason): Promise<GiveUpResult> {
  const what = 'Taking the recording out of its archive';
  return giveUpCall(
    { db, bus, consumer: CONSUMER },
    { source: 'audio', stage: 'extraction', what, permanentCodes: PERMANENT_CODES },
    event,
    reason,
  );
}
