import { packTranscript } from '@call-analysis/call-processing';
import {
  AudioExtractionRequested,
  AudioStored,
  type BodyOf,
  createEvent,
  type Event,
  type EventOrigin,
  INLINE_BYTES,
  type Language,
  TranscriptReady,
  type Utterance,
} from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { CallRow } from './call-row.ts';
import type { DescribedCall, UploadedTranscript } from './call-store.ts';
import type { Archive, ArchivedCall, Recording, StoredRecording } from './recording-store.ts';
import { parseTranscript } from './transcript-format.ts';

/** Asks the audio service to extract the recording of a call from its archive. */
export function extractionRequested(
  call: Omit<ArchivedCall, 'priority'>,
  archive: Archive,
  origin: EventOrigin,
): Event<BodyOf<typeof AudioExtractionRequested>> {
  return createEvent('ingest', AudioExtractionRequested, call.uuid, origin, {
    attempt: call.attempt,
    archive_key: archive.key,
    archive_bytes: archive.bytes,
    file_name: call.file_name,
    entry: call.entry,
  });
}

function describedBy({ attempt, segment_type, operator_name, direction, start_time }: DescribedCall) {
  return { attempt, segment_type, operator_name, direction, start_time: start_time.toISOString() };
}

/** The recording of a call is stored and can be transcribed. */
export function audioStored(
  call: DescribedCall,
  channels: Pick<Recording, 'left' | 'right'>,
  { object_key: key, codec: _codec, sha256: _sha256, ...audio }: StoredRecording,
  redact: boolean,
  origin: EventOrigin,
): Event<BodyOf<typeof AudioStored>> {
  return createEvent('ingest', AudioStored, call.uuid, origin, {
    key,
    ...audio,
    left: channels.left,
    right: channels.right,
    ...describedBy(call),
    ...(redact && { redact }),
  });
}

/**
 * The uploaded transcript of a call can be analyzed. A long transcript is put in the object store first.
 *
 * The text is parsed once at acceptance, where the check creates no utterances, and once here. Utterances are not
 * carried over: all calls of a batch but the first 500 are announced later, possibly by another process, and until then
 * their utterances would take several times the memory of the text.
 */
export async function uploadedTranscriptReady(
  objects: Objects,
  call: UploadedTranscript,
  origin: EventOrigin,
): Promise<Event<BodyOf<typeof TranscriptReady>>> {
  const parsed = parseTranscript(call.tagged_text);
  if (parsed === null) throw new Error(`the accepted transcript of call ${call.uuid} does not parse`);
  const { utterances } = parsed;
  // A byte of text becomes at most a few bytes of JSON, so a text far below the limit needs no exact count.
  const isShort = call.tagged_text.length < INLINE_BYTES / 8;
  return createEvent('ingest', TranscriptReady, call.uuid, origin, {
    source: 'transcription',
    duration: call.duration,
    language: call.language as Language | null,
    tags: parsed.tags,
    ...describedBy(call),
    transcript: isShort ? { utterances } : await packTranscript(objects, attemptOf(call, origin), utterances),
  });
}

/** The stored transcript of a call's recording can be analyzed again. */
export async function transcribedRecordingReady(
  objects: Objects,
  call: CallRow,
  utterances: Utterance[],
  origin: EventOrigin,
): Promise<Event<BodyOf<typeof TranscriptReady>>> {
  return createEvent('ingest', TranscriptReady, call.uuid, origin, {
    source: 'audio',
    duration: call.duration,
    language: call.language as Language | null,
    tags: [],
    ...describedBy(call),
    ...(call.engine === null ? {} : { engine: call.engine }),
    transcript: await packTranscript(objects, attemptOf(call, origin), utterances),
  });
}

function attemptOf({ uuid, attempt }: { readonly uuid: string; readonly attempt: number }, { firmuuid }: EventOrigin) {
  return { firmUuid: firmuuid, callUuid: uuid, attempt };
}
