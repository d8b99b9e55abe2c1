import { claim } from '@call-analysis/bus';
import type { BodyOf, CallAnalyzed, CallFailed, Event } from '@call-analysis/events';
import type { Store } from '../store/index.ts';
import { happenedAt } from './event-time.ts';

/** Writes analyses into the catalogue; each event once, however often it comes. */
export async function projectAnalyses(
  store: Store,
  events: readonly Event<BodyOf<typeof CallAnalyzed>>[],
): Promise<void> {
  await store.db.transaction(async (tx) => {
    const claimed = await claim(
      tx,
      'ingest.catalogue',
      events.map((event) => event.id),
    );
    const fresh = events.filter((event) => claimed.has(event.id));
    if (fresh.length === 0) return;
    await store.calls.complete(
      tx,
      fresh.map(({ firmuuid, subject, time, data }) => ({
        firmUuid: firmuuid,
        callUuid: subject,
        attempt: data.attempt,
        at: happenedAt(time),
        outcome: data.outcome,
        language: data.language,
        score: data.analysis?.score ?? null,
        analysisUuid: data.analysis_uuid,
        body: data.analysis === null ? null : JSON.stringify(data.analysis),
      })),
    );
  });
}

/** Marks calls failed, with the reason that the stage gave. */
export async function projectFailures(
  store: Store,
  events: readonly Event<BodyOf<typeof CallFailed>>[],
): Promise<void> {
  await store.db.transaction(async (tx) => {
    const claimed = await claim(
      tx,
      'ingest.catalogue',
      events.map((event) => event.id),
    );
    for (const { id, firmuuid, subject, time, data } of events) {
      if (!claimed.has(id)) continue;
      const { attempt, ...failure } = data;
      await store.calls.fail(tx, { firmUuid: firmuuid, callUuid: subject, attempt }, failure, happenedAt(time));
    }
  });
}
