import { type Bus, DISCARD, type FailureReason, type GiveUpResult, once } from '@call-analysis/bus';
import { findErased, unpackTranscript } from '@call-analysis/call-processing';
import {
  type AnalysisWaiting,
  type BodyOf,
  type CallAnalyzed,
  CallEnded,
  type CallFailed,
  createEvent,
  type Event,
  type EventOrigin,
  receivedAnalysis,
  type TranscriptionProgressed,
  type TranscriptionWaiting,
  type TranscriptReady,
} from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { type Database, DEADLOCKS_RETRIED, type Sql } from '@call-analysis/postgres';
import type { Publishing, Registered } from '@call-analysis/service';
import { z } from 'zod';
import type { TranscribedCall, Transcripts } from '../calls/transcript-store.ts';
import type { EndedCall, Results } from './result-store.ts';

interface Deps extends Registered, Publishing {
  readonly results: Results;
}

/**
 * Writes analyses into the catalogue and publishes CallEnded. An event that is delivered again has no effect, because its
 * attempt of the call has ended: nothing else is noted of it.
 */
export async function projectAnalyses(
  { db, results, bus }: Omit<Deps, 'consumer'>,
  events: readonly Event<BodyOf<typeof CallAnalyzed>>[],
): Promise<void> {
  const project = async (tx: Sql) => {
    const ended = await results.complete(
      tx,
      events.map(({ firmuuid, subject, time, data }) => {
        return {
          firmUuid: firmuuid,
          callUuid: subject,
          attempt: data.attempt,
          at: eventTime(time),
          outcome: data.outcome,
          language: data.language,
          score: data.analysis?.score ?? null,
          analysisUuid: data.analysis_uuid,
          analysis: data.analysis === null ? null : receivedAnalysis(data.analysis),
          note: data.note ?? null,
        };
      }),
    );
    const origins = new Map(events.map((event) => [`${event.firmuuid}/${event.subject}`, event]));
    await publishEnded(bus, tx, ended, (call) => origins.get(`${call.firm_uuid}/${call.uuid}`)!);
  };
  await db.transaction(project, DEADLOCKS_RETRIED);
}

/** Notes in the history of calls that their transcription or analysis waits, and for what. */
export async function projectWaiting(
  { db, results, consumer }: Omit<Deps, 'bus'>,
  stage: 'transcription' | 'analysis',
  events: readonly Event<BodyOf<typeof TranscriptionWaiting | typeof AnalysisWaiting>>[],
): Promise<void> {
  await once({ db, consumer }, events, async (tx, fresh) => {
    const waiting = fresh.map(({ firmuuid, subject, time, data: { attempt, reason } }) => {
      return { firmUuid: firmuuid, callUuid: subject, attempt, reason, at: eventTime(time) };
    });
    await results.wait(tx, stage, waiting);
  });
}

/** Fails calls with the reason that the stage reported and publishes CallEnded. An event that is delivered again has no effect. */
export async function projectFailures(
  { db, results, bus, consumer }: Deps,
  events: readonly Event<BodyOf<typeof CallFailed>>[],
): Promise<void> {
  await once({ db, consumer }, events, async (tx, fresh) => {
    for (const event of fresh) {
      const { attempt, ...failure } = event.data;
      const call = { firmUuid: event.firmuuid, callUuid: event.subject, attempt };
      const ended = await results.fail(tx, call, failure, eventTime(event.time));
      await publishEnded(bus, tx, ended, () => event);
    }
  });
}

/** The time of an event by its publisher's clock, but never later than now by this machine's clock. */
function eventTime(time: string): Date {
  return new Date(Math.min(Date.parse(time), Date.now()));
}

/** Publishes CallEnded for each call, in the transaction that ended it. `originOf` returns the event that it results from. */
export async function publishEnded(
  bus: Bus,
  tx: Sql,
  ended: readonly EndedCall[],
  originOf: (call: EndedCall) => EventOrigin,
): Promise<void> {
  if (ended.length === 0) return;
  const events = ended.map((call) => {
    const { firm_uuid: _firm, uuid, ...state } = call;
    return createEvent('ingest', CallEnded, uuid, originOf(call), state);
  });
  await bus.publish(tx, events);
}

const Attempt = z.object({ attempt: z.int().min(1) });

/** Fails a call whose result could not be stored. */
export async function failUnstored(
  { db, results, bus }: Deps,
  event: Event,
  stage: 'transcription' | 'analysis',
  { attempts }: FailureReason,
): Promise<GiveUpResult> {
  const result = Attempt.safeParse(event.data);
  const message = 'The result of this call could not be stored. Retry it.';
  const failure = { stage, code: 'RESULT_NOT_STORED', message, retryable: true, attempts };
  return db.transaction(async (tx) => {
    if ((await findErased(tx, [event])).size > 0) return DISCARD;
    if (!result.success) return;
    const call = { firmUuid: event.firmuuid, callUuid: event.subject, attempt: result.data.attempt };
    const ended = await results.fail(tx, call, failure, new Date());
    await publishEnded(bus, tx, ended, () => event);
  });
}

type Ready = Event<BodyOf<typeof TranscriptReady>>;

interface TranscriptDeps extends Registered {
  readonly db: Database;
  readonly transcripts: Transcripts;
  readonly objects: Objects;
}

/** The most history entries about progress in one attempt. */
const STEPS = 10;

/** Writes transcripts of recordings into the catalogue. An event that is delivered again has no effect. */
export async function projectTranscripts(
  { db, transcripts, objects, consumer }: TranscriptDeps,
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
  { db, transcripts, consumer }: Omit<TranscriptDeps, 'objects'>,
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
