import { Readable } from 'node:stream';
import type { Bus } from '@call-analysis/bus';
import { claim } from '@call-analysis/bus';
import type { BodyOf, CallsAccepted, Event, Language } from '@call-analysis/events';
import { INLINE_BYTES, TranscriptReady } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { v7 as uuidv7 } from 'uuid';
import type { Store, WaitingCall } from './store/index.ts';
import { parseTranscript } from './rows/transcript-format.ts';

type Announcement = Event<BodyOf<typeof TranscriptReady>>;

/** Events of one hand-over: few enough for one statement, many enough to be quick. */
const TOGETHER = 500;

/**
 * Says of each waiting call of a portion of a batch that its transcript is ready.
 * A batch is announced in portions after its acceptance, because a million facts in the transaction that accepts it
 * would take four times as long as the calls themselves.
 */
export async function announceCalls(
  parts: { store: Store; bus: Bus; objects: Objects },
  accepted: Event<BodyOf<typeof CallsAccepted>>,
): Promise<void> {
  const { store, bus } = parts;
  const { first, last } = accepted.data;
  const waiting = await store.calls.waiting(accepted.firmuuid, accepted.subject, first, last);
  const events: Announcement[] = [];
  for (const call of waiting) events.push(await announcement(parts.objects, call, accepted));
  await store.db.transaction(async (tx) => {
    const claimed = await claim(tx, 'ingest.announce', [accepted.id]);
    if (claimed.size === 0) return;
    for (let from = 0; from < events.length; from += TOGETHER) await bus.publish(tx, events.slice(from, from + TOGETHER));
  });
}

/** The fact that a call's uploaded transcript can be analysed; a long one is put to the object store first. */
export async function announcement(
  objects: Objects,
  call: WaitingCall,
  about: { firmuuid: string; turn: number; traceparent?: string | undefined },
): Promise<Announcement> {
  const parsed = parseTranscript(call.tagged_text);
  if ('fault' in parsed) throw new Error(`the accepted transcript of call ${call.uuid} does not parse: ${parsed.fault}`);
  const utterances = parsed.utterances.map(({ role, text }) => ({ role, text, start: null, end: null }));
  return {
    id: uuidv7(),
    source: 'ingest',
    type: TranscriptReady.type,
    time: new Date().toISOString(),
    subject: call.uuid,
    firmuuid: about.firmuuid,
    turn: about.turn,
    traceparent: about.traceparent,
    data: {
      attempt: call.attempt,
      source: 'transcription',
      duration: call.duration,
      language: call.language as Language | null,
      tags: parsed.tags,
      segment_type: call.segment_type,
      transcript: await carried(objects, call, about.firmuuid, utterances),
    },
  };
}

async function carried<U>(objects: Objects, call: WaitingCall, firmUuid: string, utterances: U[]) {
  // A byte of text is at most a few bytes of JSON; only near the limit is it worth counting exactly.
  if (call.tagged_text.length < INLINE_BYTES / 8) return { utterances };
  const json = JSON.stringify({ utterances });
  if (Buffer.byteLength(json) <= INLINE_BYTES) return { utterances };
  const key = `transcripts/${firmUuid}/${call.uuid}/${call.attempt}.json`;
  await objects.put(key, Readable.from([json]));
  return { key };
}
