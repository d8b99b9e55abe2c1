import { type Bus, DISCARD, type FailureReason, type GiveUpResult, once } from '@call-analysis/bus';
import { findErased } from '@call-analysis/call-processing';
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
  type TranscriptionWaiting,
} from '@call-analysis/events';
import { type Database, DEADLOCKS_RETRIED, type Sql } from '@call-analysis/postgres';
import type { Registered } from '@call-analysis/service';
import { z } from 'zod';
import { factsIn } from '../calls/analysis-facts.ts';
import type { EndedCall, Results } from './result-store.ts';

interface Deps extends Registered {
  readonly db: Database;
  readonly results: Results;
  readonly bus: Bus;
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
        const analysis = data.analysis === null ? null : receivedAnalysis(data.analysis);
        const facts = analysis && factsIn(analysis);
        return {
          firmUuid: firmuuid,
          callUuid: subject,
          attempt: data.attempt,
          at: eventTime(time),
          outcome: data.outcome,
          language: data.language,
          score: data.analysis?.score ?? null,
          analysisUuid: data.analysis_uuid,
          analysis,
          note: data.note ?? null,
          facts,
        };
      }),
    );
    const origins = new Map(events.map((event) => [`${event.firmuuid}/${event.subject}`, event]));
    await publishEnded(bus, tx, ended, (call) => origins.get(`${call.firmUuid}/${call.callUuid}`)!);
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
export function eventTime(time: string): Date {
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
  const events = ended.map((call) => createEvent('ingest', CallEnded, call.callUuid, originOf(call), call.state));
  await bus.publish(tx, events);
}

/** Fails a call whose analysis or failure could not be stored. */
export async function giveUpResult(deps: Deps, event: Event, reason: FailureReason): Promise<GiveUpResult> {
  return failUnstored(deps, event, 'analysis', reason);
}

/** Fails a call whose transcript could not be stored. */
export async function giveUpTranscript(deps: Deps, event: Event, reason: FailureReason): Promise<GiveUpResult> {
  return failUnstored(deps, event, 'transcription', reason);
}

const Attempt = z.object({ attempt: z.int().min(1) });

async function failUnstored(
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
