import { claim } from '@call-analysis/bus';
import {
  type AnalysisWaiting,
  type BodyOf,
  type CallAnalyzed,
  type CallFailed,
  type Event,
  receivedAnalysis,
} from '@call-analysis/events';
import type { Store } from '../store/index.ts';
import { factsOf } from './analysis-facts.ts';
import { eventTime } from './event-time.ts';

const CONSUMER = 'ingest.catalogue';

/** Writes analyses into the catalogue. An event that is delivered again has no effect. */
export async function projectAnalyses(
  store: Store,
  events: readonly Event<BodyOf<typeof CallAnalyzed>>[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const claimed = await claim(
      tx,
      CONSUMER,
      events.map((event) => event.id),
    );
    const fresh = events.filter((event) => claimed.has(event.id));
    if (fresh.length === 0) return;
    await store.results.complete(
      tx,
      fresh.map(({ firmuuid, subject, time, data }) => ({
        firmUuid: firmuuid,
        callUuid: subject,
        attempt: data.attempt,
        at: eventTime(time),
        outcome: data.outcome,
        language: data.language,
        score: data.analysis?.score ?? null,
        analysisUuid: data.analysis_uuid,
        body: data.analysis === null ? null : JSON.stringify(receivedAnalysis(data.analysis)),
        needsReview: data.analysis === null ? null : (factsOf(data.analysis)?.needsReview ?? null),
      })),
    );
  });
}

/** Notes in the history of calls that their analysis waits, and for what. */
export async function projectWaiting(
  store: Store,
  events: readonly Event<BodyOf<typeof AnalysisWaiting>>[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const claimed = await claim(
      tx,
      CONSUMER,
      events.map((event) => event.id),
    );
    await store.results.wait(
      tx,
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

/** Fails calls with the reason that the stage reported. An event that is delivered again has no effect. */
export async function projectFailures(
  store: Store,
  events: readonly Event<BodyOf<typeof CallFailed>>[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const claimed = await claim(
      tx,
      CONSUMER,
      events.map((event) => event.id),
    );
    for (const { id, firmuuid, subject, time, data } of events) {
      if (!claimed.has(id)) continue;
      const { attempt, ...failure } = data;
      await store.results.fail(tx, { firmUuid: firmuuid, callUuid: subject, attempt }, failure, eventTime(time));
    }
  });
}
