import { claim } from '@call-analysis/bus';
import { findErased, unpackTranscript } from '@call-analysis/call-processing';
import type { BodyOf, Event, TranscriptionProgressed, TranscriptReady } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { HeardCall, Store } from '../store/index.ts';
import { happenedAt } from './event-time.ts';

type Ready = Event<BodyOf<typeof TranscriptReady>>;

const CONSUMER = 'ingest.hearing';
/** Entries of the history that one attempt may take. */
const STEPS = 10;
/** Calls are locked one by one; two transactions that meet the same ones the other way round begin again. */
const COLLISIONS = 5;

/** Writes what was heard into the catalogue; each event once, however often it comes. */
export async function projectTranscripts(
  { store, objects }: { store: Store; objects: Objects },
  events: readonly Ready[],
): Promise<void> {
  const heard: { id: string; call: HeardCall }[] = [];
  for (const event of events) {
    try {
      heard.push({ id: event.id, call: await heardCall(objects, event) });
    } catch (error) {
      // What was sent by key is removed with an erased call, and shall not be looked for again.
      if ((await findErased(store.db, [event])).size === 0) throw error;
    }
  }
  await store.db.transaction(
    async (tx) => {
      const claimed = await claim(
        tx,
        CONSUMER,
        events.map(({ id }) => id),
      );
      for (const { id, call } of heard) if (claimed.has(id)) await store.transcripts.keep(tx, call);
    },
    { retries: COLLISIONS },
  );
}

async function heardCall(objects: Objects, { firmuuid, subject, time, data }: Ready): Promise<HeardCall> {
  const engine = data.engine ?? null;
  const who = engine === null ? 'heard' : `heard by ${engine}`;
  return {
    firmUuid: firmuuid,
    callUuid: subject,
    attempt: data.attempt,
    at: happenedAt(time),
    engine,
    language: data.language,
    utterances: await unpackTranscript(objects, data.transcript),
    details: [data.language === null ? who : `${who}, language ${data.language}`, ...(data.notes ?? [])],
  };
}

/** Says in the history of calls how far they have been heard. */
export async function projectProgress(
  store: Store,
  events: readonly Event<BodyOf<typeof TranscriptionProgressed>>[],
): Promise<void> {
  await store.db.transaction(
    async (tx) => {
      const claimed = await claim(
        tx,
        CONSUMER,
        events.map(({ id }) => id),
      );
      for (const { id, firmuuid, subject, time, data } of events) {
        if (!claimed.has(id)) continue;
        const { attempt, heard, duration } = data;
        await store.transcripts.progress(tx, {
          firmUuid: firmuuid,
          callUuid: subject,
          attempt,
          at: happenedAt(time),
          step: duration > 0 ? Math.min(Math.floor((heard / duration) * STEPS), STEPS - 1) : 0,
          detail: `heard ${amount(heard, duration)}`,
        });
      }
    },
    { retries: COLLISIONS },
  );
}

/** `5 of 42 minutes`, or seconds of what is short. */
function amount(heard: number, duration: number): string {
  if (duration < 120) return `${Math.floor(heard)} of ${Math.round(duration)} seconds`;
  return `${Math.floor(heard / 60)} of ${Math.round(duration / 60)} minutes`;
}
