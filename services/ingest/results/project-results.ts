import { type Bus, claim } from '@call-analysis/bus';
import {
  type AnalysisWaiting,
  type BodyOf,
  type CallAnalyzed,
  type CallFailed,
  type Event,
  receivedAnalysis,
  type TranscriptionWaiting,
} from '@call-analysis/events';
import type { Store } from '../store/index.ts';
import { factsIn } from './analysis-facts.ts';
import { eventTime } from './event-time.ts';
import { publishEnded } from './publish-ended.ts';

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
}

const CONSUMER = 'ingest.catalogue';

/** Writes analyses into the catalogue and publishes CallEnded. An event that is delivered again has no effect. */
export async function projectAnalyses(
  { store, bus }: Parts,
  events: readonly Event<BodyOf<typeof CallAnalyzed>>[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const claimed = await claim(tx, CONSUMER, events);
    const fresh = events.filter((event) => claimed.has(event.id));
    if (fresh.length === 0) return;
    const ended = await store.results.complete(
      tx,
      fresh.map(({ firmuuid, subject, time, data }) => {
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
    const origins = new Map(fresh.map((event) => [`${event.firmuuid}/${event.subject}`, event]));
    await publishEnded(bus, tx, ended, (call) => origins.get(`${call.firmUuid}/${call.callUuid}`)!);
  });
}

/** Notes in the history of calls that their transcription or analysis waits, and for what. */
export async function projectWaiting(
  store: Store,
  stage: 'transcription' | 'analysis',
  events: readonly Event<BodyOf<typeof TranscriptionWaiting | typeof AnalysisWaiting>>[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const claimed = await claim(tx, CONSUMER, events);
    await store.results.wait(
      tx,
      stage,
      events
        .filter(({ id }) => claimed.has(id))
        .map(({ firmuuid, subject, time, data }) => ({
          firmUuid: firmuuid,
          callUuid: subject,
          attempt: data.attempt,
          reason: data.reason,
          at: eventTime(time),
        })),
    );
  });
}

/** Fails calls with the reason that the stage reported and publishes CallEnded. An event that is delivered again has no effect. */
export async function projectFailures(
  { store, bus }: Parts,
  events: readonly Event<BodyOf<typeof CallFailed>>[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const claimed = await claim(tx, CONSUMER, events);
    for (const event of events) {
      if (!claimed.has(event.id)) continue;
      const { attempt, ...failure } = event.data;
      const call = { firmUuid: event.firmuuid, callUuid: event.subject, attempt };
      const ended = await store.results.fail(tx, call, failure, eventTime(event.time));
      await publishEnded(bus, tx, ended, () => event);
    }
  });
}
