import { packTranscript } from '@call-analysis/call-processing';
import {
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
import type { CallRow, UploadedTranscript } from '../store/index.ts';
import { parseTranscript } from './rows/transcript-format.ts';

type Ready = Event<BodyOf<typeof TranscriptReady>>;

/** The fact that a call's uploaded transcript can be analysed; a long one is put to the object store first. */
export async function uploadedReady(objects: Objects, call: UploadedTranscript, about: EventOrigin): Promise<Ready> {
  const parsed = parseTranscript(call.tagged_text);
  if ('fault' in parsed)
    throw new Error(`the accepted transcript of call ${call.uuid} does not parse: ${parsed.fault}`);
  const utterances = parsed.utterances.map(({ role, text }) => ({ role, text, start: null, end: null }));
  // A byte of text is at most a few bytes of JSON; only near the limit is it worth counting exactly.
  const isShort = call.tagged_text.length < INLINE_BYTES / 8;
  return createEvent('ingest', TranscriptReady, call.uuid, about, {
    attempt: call.attempt,
    source: 'transcription',
    duration: call.duration,
    language: call.language as Language | null,
    tags: parsed.tags,
    segment_type: call.segment_type,
    transcript: isShort ? { utterances } : await packTranscript(objects, callOf(call, about), utterances),
  });
}

/** The fact that what was heard in a call's recording, and is stored, can be analysed once more. */
export async function heardReady(
  objects: Objects,
  call: CallRow,
  utterances: Utterance[],
  about: EventOrigin,
): Promise<Ready> {
  return createEvent('ingest', TranscriptReady, call.uuid, about, {
    attempt: call.attempt,
    source: 'audio',
    duration: call.duration,
    language: call.language as Language | null,
    tags: [],
    segment_type: call.segment_type,
    ...(call.engine === null ? {} : { engine: call.engine }),
    transcript: await packTranscript(objects, callOf(call, about), utterances),
  });
}

function callOf({ uuid, attempt }: { readonly uuid: string; readonly attempt: number }, { firmuuid }: EventOrigin) {
  return { firmUuid: firmuuid, callUuid: uuid, attempt };
}
