import { Readable } from 'node:stream';
import type { Bus } from '@call-analysis/bus';
import { claim } from '@call-analysis/bus';
import type { BodyOf, CallsAccepted, Event, Language } from '@call-analysis/events';
import { INLINE_BYTES, TranscriptReady } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import { v7 as uuidv7 } from 'uuid';
import type { Store, WaitingCall } from './store/index.ts';
import { parseTranscript } from './rows/transcript-format.ts';

type Announcement = Event<BodyOf<typeof TranscriptReady>>;

/** On whose behalf and how urgently calls are announced. */
export interface About {
  readonly firmuuid: string;
  readonly turn: number;
  readonly traceparent?: string | undefined;
}

/**
 * Announces a later portion of a batch. The first is announced in the transaction that accepts the batch; a million
 * facts there would take several times as long as the calls themselves.
 */
export async function announceCalls(
  parts: { store: Store; bus: Bus; objects: Objects },
  accepted: Event<BodyOf<typeof CallsAccepted>>,
): Promise<void> {
  const { store, bus } = parts;
  const events = await announcements(parts, store.db, accepted.subject, accepted.data, accepted);
  await store.db.transaction(async (tx) => {
    const claimed = await claim(tx, 'ingest.announce', [accepted.id]);
    if (claimed.size > 0) await bus.publish(tx, events);
  });
}

/** Says of each waiting call of a portion that its transcript is ready. */
export async function announcements(
  { store, objects }: { store: Store; objects: Objects },
  sql: Sql,
  batchUuid: string,
  portion: { first: string; last: string },
  about: About,
): Promise<Announcement[]> {
  const events: Announcement[] = [];
  for (const call of await store.calls.waiting(sql, about.firmuuid, batchUuid, portion)) {
    events.push(await announcement(objects, call, about));
  }
  return events;
}

/** The fact that a call's uploaded transcript can be analysed; a long one is put to the object store first. */
export async function announcement(
  objects: Objects,
  call: WaitingCall,
  about: About,
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
