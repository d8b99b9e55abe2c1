import { type DeadReason, giveUpCall, type Obituary } from '@call-analysis/bus';
import type { Event } from '@call-analysis/events';
import type { Parts } from './extract-recording.ts';
import { CONSUMER } from './extract-recording.ts';

const LASTING = new Set(['ARCHIVE_MISSING', 'ENTRY_CORRUPT', 'INVALID_FILE_FORMAT', 'AUDIO_UNREADABLE', 'AUDIO_NOT_STEREO']);

/** Says of a call that its recording could not be had, and why. */
export async function giveUpExtraction({ db, bus }: Parts, event: Event, reason: DeadReason): Promise<Obituary> {
  const what = 'Taking the recording out of its archive';
  return giveUpCall({ db, bus, consumer: CONSUMER }, { source: 'audio', stage: 'extraction', what, lasting: LASTING }, event, reason);
}
