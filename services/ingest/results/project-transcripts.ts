import { claim } from '@call-analysis/bus';
import { findErased, unpackTranscript } from '@call-analysis/call-processing';
import type { BodyOf, Event, TranscriptionProgressed, TranscriptReady } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Store, TranscribedCall } from '../store/index.ts';
import { eventTime } from './event-time.ts';

type Ready = Event<BodyOf<typeof TranscriptReady>>;

const CONSUMER = 'ingest.hearing';
/** The most history entries about progress in one attempt. */
const STEPS = 10;
/** Calls are locked one by one. A transaction that deadlocks with another one is repeated up to this many times. */
const DEADLOCK_RETRIES = 5;

/** Writes transcripts of recordings into the catalogue. An event that is delivered again has no effect. */
export async function projectTranscripts(
  { store, objects }: { store: Store; objects: Objects },
  events: readonly Ready[],
): Promise<void> {
  const transcribed: { id: string; call: TranscribedCall }[] = [];
  for (const event of events) {
    try {
      transcribed.push({ id: event.id, call: await transcribedCall(objects, event) });
    } catch (error) {
      // The packed transcript of an erased call is gone. A retry would not find it either.
      if ((await findErased(store.db, [event])).size === 0) throw error;
    }
  }
  await store.transaction(
    async (tx) => {
      const claimed = await claim(tx, CONSUMER, events);
      for (const { id, call } of transcribed) if (claimed.has(id)) await store.transcripts.save(tx, call);
    },
    { retries: DEADLOCK_RETRIES },
  );
}

async function transcribedCall(objects: Objects, { firmuuid, subject, time, data }: Ready): Promise<TranscribedCall> {
  const engine = data.engine ?? null;
  const detail = engine === null ? 'transcribed' : `transcribed by ${engine}`;
  return {
    firmUuid: firmuuid,
    callUuid: subject,
    attempt: data.attempt,
    at: eventTime(time),
    engine,
    language: data.language,
    utterances: await unpackTranscript(objects, data.transcript),
    details: [data.language === null ? detail : `${detail}, language ${data.language}`, ...(data.notes ?? [])],
  };
}

/** Writes the progress of transcriptions into the history of their calls. */
export async function projectProgress(
  store: Store,
  events: readonly Event<BodyOf<typeof TranscriptionProgressed>>[],
): Promise<void> {
  await store.transaction(
    async (tx) => {
      const claimed = await claim(tx, CONSUMER, events);
      for (const { id, firmuuid, subject, time, data } of events) {
        if (!claimed.has(id)) continue;
        const { attempt, heard: transcribedSeconds, duration } = data;
        await store.transcripts.addProgress(tx, {
          firmUuid: firmuuid,
          callUuid: subject,
          attempt,
          at: eventTime(time),
          step: duration > 0 ? Math.min(Math.floor((transcribedSeconds / duration) * STEPS), STEPS - 1) : 0,
          detail: `transcribed ${progressText(transcribedSeconds, duration)}`,
        });
      }
    },
    { retries: DEADLOCK_RETRIES },
  );
}

/** `5 of 42 minutes`; seconds for a short recording. */
function progressText(transcribedSeconds: number, duration: number): string {
  if (duration < 120) return `${Math.floor(transcribedSeconds)} of ${Math.round(duration)} seconds`;
  return `${Math.floor(transcribedSeconds / 60)} of ${Math.round(duration / 60)} minutes`;
}
