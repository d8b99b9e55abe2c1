import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Poison } from '@call-analysis/bus';
import { type BodyOf, INLINE_BYTES, type TranscriptReady, Utterance } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { z } from 'zod';

type Packed = BodyOf<typeof TranscriptReady>['transcript'];

const Document = z.object({ utterances: z.array(Utterance) });

/** The transcript as `transcript.ready.v1` carries it: inline up to INLINE_BYTES of JSON, otherwise by object key. */
export async function packTranscript(
  objects: Objects,
  call: { readonly firmUuid: string; readonly callUuid: string; readonly attempt: number },
  utterances: Utterance[],
): Promise<Packed> {
  const json = JSON.stringify({ utterances });
  if (Buffer.byteLength(json) <= INLINE_BYTES) return { utterances };
  const key = `${folderOf(call.firmUuid, call.callUuid)}${call.attempt}.json`;
  await objects.put(key, Readable.from([json]));
  return { key };
}

/** Poison when the object at the key is no transcript: reading it again would give the same bytes. */
export async function unpackTranscript(objects: Objects, transcript: Packed): Promise<Utterance[]> {
  if ('utterances' in transcript) return transcript.utterances;
  const document = await text(await objects.open(transcript.key));
  try {
    return Document.parse(JSON.parse(document)).utterances;
  } catch {
    // The parser's own error may quote the conversation.
    throw new Poison(
      'TRANSCRIPT_UNREADABLE',
      'The stored transcript cannot be read. Retry the call to store it again.',
    );
  }
}

/** Removes the transcripts of a call that were packed by object key; returns how many there were. */
export async function removePackedTranscripts(objects: Objects, firmUuid: string, callUuid: string): Promise<number> {
  const keys: string[] = [];
  for await (const { key } of objects.list(folderOf(firmUuid, callUuid))) keys.push(key);
  for (const key of keys) await objects.remove(key);
  return keys.length;
}

function folderOf(firmUuid: string, callUuid: string): string {
  return `transcripts/${firmUuid}/${callUuid}/`;
}
