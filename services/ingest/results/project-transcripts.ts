import { once } from '@call-analysis/bus';
import { findErased, unpackTranscript } from '@call-analysis/call-processing';
import type { BodyOf, Event, TranscriptionProgressed, TranscriptReady } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { type Database, DEADLOCKS_RETRIED, type Sql } from '@call-analysis/postgres';
import type { Registered } from '@call-analysis/service';
import type { TranscribedCall, Transcripts } from '../calls/transcript-store.ts';
import { eventTime } from './project-results.ts';

type Ready = Event<BodyOf<typeof TranscriptReady>>;

interface Deps extends Registered {
  readonly db: Database;
  readonly transcripts: Transcripts;
  readonly objects: Objects;
}

/** The most history entries about progress in one attempt. */
const STEPS = 10;

/** Writes transcripts of recordings into the catalogue. An event that is delivered again has no effect. */
export async function projectTranscripts(
  { db, transcripts, objects, consumer }: Deps,
  events: readonly Ready[],
): Promise<void> {
  const calls = new Map<string, TranscribedCall>();
  for (const event of events) {
    try {
      calls.set(event.id, await transcribedCall(objects, event));
    } catch (error) {
      // The packed transcript of an erased call is gone. A retry would not find it either.
      if ((await findErased(db, [event])).size === 0) throw error;
    }
  }
  const save = async (tx: Sql, fresh: readonly Ready[]) => {
    for (const { id } of fresh) {
      const call = calls.get(id);
      if (call !== undefined) await transcripts.save(tx, call);
    }
  };
  await once({ db, consumer }, events, save, DEADLOCKS_RETRIED);
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
  { db, transcripts, consumer }: Omit<Deps, 'objects'>,
  events: readonly Event<BodyOf<typeof TranscriptionProgressed>>[],
): Promise<void> {
  await once(
    { db, consumer },
    events,
    async (tx, fresh) => {
      for (const { firmuuid, subject, time, data } of fresh) {
        const { attempt, heard: transcribedSeconds, duration } = data;
        await transcripts.addProgress(tx, {
          firmUuid: firmuuid,
          callUuid: subject,
          attempt,
          at: eventTime(time),
          step: duration > 0 ? Math.min(Math.floor((transcribedSeconds / duration) * STEPS), STEPS - 1) : 0,
          detail: `transcribed ${progressText(transcribedSeconds, duration)}`,
        });
      }
    },
    DEADLOCKS_RETRIED,
  );
}

/** `5 of 42 minutes`; seconds for a short recording. */
function progressText(transcribedSeconds: number, duration: number): string {
  if (duration < 120) return `${Math.floor(transcribedSeconds)} of ${Math.round(duration)} seconds`;
  return `${Math.floor(transcribedSeconds / 60)} of ${Math.round(duration / 60)} minutes`;
}
