import type { Bus, Consuming, FailureReason, GiveUpResult } from '@call-analysis/bus';
import { failCall, giveUpCall } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Logger } from '@call-analysis/runtime';

/** Codes that describe the recording. A retry would only repeat them. */
const PERMANENT_CODES = new Set(['AUDIO_UNREADABLE', 'INVALID_FILE_FORMAT']);
/** Codes that describe what was recorded. LANGUAGE_NOT_SUPPORTED: a retry helps once the engine has a model for the language. */
const CODES_OF_CALL = new Set([...PERMANENT_CODES, 'LANGUAGE_NOT_SUPPORTED']);

const FAILURE = {
  source: 'transcription',
  stage: 'transcription',
  what: 'Transcription',
  permanentCodes: PERMANENT_CODES,
} as const;

/** Whether the call fails because of its recording: a result, and no incident of ours. */
export function isOfCall(error: unknown): error is Fault {
  return error instanceof Fault && CODES_OF_CALL.has(error.code);
}

/** Fails a call because of its recording. */
export async function failTranscription(
  parts: Consuming & { readonly bus: Bus; readonly log: Logger },
  event: Event,
  fault: Fault,
): Promise<void> {
  await failCall(parts, FAILURE, event, fault);
}

/** Publishes that a call could not be transcribed, and why. */
export async function giveUpTranscription(
  parts: Consuming & { readonly bus: Bus },
  event: Event,
  reason: FailureReason,
): Promise<GiveUpResult> {
  return giveUpCall(parts, FAILURE, event, reason);
}
