import { type Bus, once } from '@call-analysis/bus';
import {
  type AnalysisWaiting,
  type BodyOf,
  type CallAnalyzed,
  type CallFailed,
  type Event,
  receivedAnalysis,
  type TranscriptionWaiting,
} from '@call-analysis/events';
import type { Database, Sql } from '@call-analysis/postgres';
import type { Registered } from '@call-analysis/service';
import { factsIn } from '../calls/analysis-facts.ts';
import { publishEnded } from './publish-ended.ts';
import type { Results } from './result-store.ts';

interface Deps extends Registered {
  readonly db: Database;
  readonly results: Results;
  readonly bus: Bus;
}

/** A transaction that deadlocks with another one for the same events is repeated up to this many times. */
const DEADLOCK_RETRIES = 5;

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
  await db.transaction(project, { retries: DEADLOCK_RETRIES });
}

/** Notes in the history of calls that their transcription or analysis waits, and for what. */
export async function projectWaiting(
  { db, results, consumer }: Omit<Deps, 'bus'>,
  stage: 'transcription' | 'analysis',
  events: readonly Event<BodyOf<typeof TranscriptionWaiting | typeof AnalysisWaiting>>[],
): Promise<void> {
  await once({ db: db, consumer }, events, async (tx, fresh) => {
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
  await once({ db: db, consumer }, events, async (tx, fresh) => {
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
