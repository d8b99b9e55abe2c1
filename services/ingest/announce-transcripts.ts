import { Readable } from 'node:stream';
import type { BodyOf, Event, Language, Utterance } from '@call-analysis/events';
import { INLINE_BYTES, TranscriptReady } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { type About, fact } from './fact.ts';
import { parseTranscript } from './rows/transcript-format.ts';
import type { CallRow, WaitingCall } from './store/index.ts';

type Ready = Event<BodyOf<typeof TranscriptReady>>;

/** The fact that a call's uploaded transcript can be analysed; a long one is put to the object store first. */
export async function uploadedReady(objects: Objects, call: WaitingCall, about: About): Promise<Ready> {
  const parsed = parseTranscript(call.tagged_text);
  if ('fault' in parsed) throw new Error(`the accepted transcript of call ${call.uuid} does not parse: ${parsed.fault}`);
  const utterances = parsed.utterances.map(({ role, text }) => ({ role, text, start: null, end: null }));
  // A byte of text is at most a few bytes of JSON; only near the limit is it worth counting exactly.
  const isShort = call.tagged_text.length < INLINE_BYTES / 8;
  return fact(TranscriptReady, call.uuid, about, {
    attempt: call.attempt,
    source: 'transcription',
    duration: call.duration,
    language: call.language as Language | null,
    tags: parsed.tags,
    segment_type: call.segment_type,
    transcript: isShort ? { utterances } : await carried(objects, call, about.firmuuid, utterances),
  });
}

/** The fact that what was heard in a call's recording, and is stored, can be analysed once more. */
export async function heardReady(
  objects: Objects,
  call: CallRow,
  utterances: Utterance[],
  about: About,
): Promise<Ready> {
  return fact(TranscriptReady, call.uuid, about, {
    attempt: call.attempt,
    source: 'audio',
    duration: call.duration,
    language: call.language as Language | null,
    tags: [],
    segment_type: call.segment_type,
    ...(call.engine === null ? {} : { engine: call.engine }),
    transcript: await carried(objects, call, about.firmuuid, utterances),
  });
}

async function carried(
  objects: Objects,
  call: { readonly uuid: string; readonly attempt: number },
  firmUuid: string,
  utterances: Utterance[],
): Promise<Ready['data']['transcript']> {
  const json = JSON.stringify({ utterances });
  if (Buffer.byteLength(json) <= INLINE_BYTES) return { utterances };
  const key = `${sentTranscripts(firmUuid, call.uuid)}${call.attempt}.json`;
  await objects.put(key, Readable.from([json]));
  return { key };
}

/** Where the transcripts of a call are that were too long for their events. */
function sentTranscripts(firmUuid: string, callUuid: string): string {
  return `transcripts/${firmUuid}/${callUuid}/`;
}

/** Returns how many there were. */
export async function removeSentTranscripts(objects: Objects, firmUuid: string, callUuid: string): Promise<number> {
  const keys: string[] = [];
  for await (const { key } of objects.list(sentTranscripts(firmUuid, callUuid))) keys.push(key);
  for (const key of keys) await objects.remove(key);
  return keys.length;
}
