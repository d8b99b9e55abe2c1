import { alreadyClaimed, type Bus, type FailureReason, type GiveUpResult } from '@call-analysis/bus';
import { findErased, giveUpCall, onceUnlessErased, postponeCall, stopProcessing } from '@call-analysis/call-processing';
import { AnalysisWaiting, type BodyOf, type CallsCanceled, type Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { Registered } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import type { Analyst } from '../analysts/analyst.ts';
import { type AnalyzedCall, makeAnalysis, type TranscriptReadyEvent } from '../analysts/make-analysis.ts';
import { costOfSpeech, type SpeechPrice } from '../language-model/prices.ts';
import type { ModelQueue } from '../queue/model-queue.ts';
import type { ActiveScorecards } from '../scorecards/active-scorecards.ts';
import type { Store } from '../store.ts';

export interface Deps {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  /** Analyzes calls that do not wait for a language model. */
  readonly analyst: Analyst;
  /** Absent without a language model. */
  readonly modelQueue?: Pick<ModelQueue, 'wake' | 'inProgress'> | undefined;
  readonly firms: Pick<Firms, 'settings'>;
  readonly activeScorecards: ActiveScorecards;
  /** Null or absent: what speech costs is unknown. */
  readonly speechPrice?: SpeechPrice | null | undefined;
}

const PAUSE_MS = 15_000;

/**
 * Analyzes calls whose transcripts are ready and publishes the results, once for each event. With a language model, calls
 * are queued for it instead.
 */
export async function analyzeCalls(deps: Deps & Registered, events: readonly TranscriptReadyEvent[]): Promise<void> {
  const { store, bus, consumer } = deps;
  // An event may be redelivered long after it was handled. A paid language model must not be asked again.
  const handled = await alreadyClaimed(store.db, consumer, events);
  // A removed firm has no scorecards any more.
  const erased = await findErased(store.db, events);
  const pending = events.filter(({ id, subject }) => !handled.has(id) && !erased.has(subject));
  if (pending.length === 0) return;
  if (deps.modelQueue !== undefined) return queueForModel(deps, deps.modelQueue, pending);
  const calls = pending.map(({ firmuuid, data }) => ({
    firmUuid: firmuuid,
    segmentType: data.segment_type,
    scorecardUuid: data.scorecard_uuid,
  }));
  const { scorecards, settings } = await orPostpone(deps, pending, async () => ({
    scorecards: await deps.activeScorecards.find(calls),
    settings: await Promise.all(pending.map(({ firmuuid }) => deps.firms.settings(firmuuid))),
  }));
  const results = new Map<string, AnalyzedCall>();
  for (const [index, event] of pending.entries()) {
    try {
      const firm = { ...settings[index]!, redactForModel: false };
      results.set(event.id, await makeAnalysis(deps, event, scorecards[index]!, firm));
    } catch (error) {
      // The transcript of an erased call is gone. A retry would not find it either.
      if ((await findErased(store.db, [event])).size === 0) throw error;
    }
  }
  await onceUnlessErased({ db: store.db, consumer }, pending, async (tx, fresh) => {
    await recordSpeech(deps, tx, fresh);
    await bus.publish(
      tx,
      fresh.flatMap(({ id }) => results.get(id)?.analyzed ?? []),
    );
  });
}

/** An event waits as long as what this needs is away. Several events of a delivery are delivered again, each by itself. */
async function orPostpone<Result>(
  { store: { db }, bus }: Deps,
  events: readonly TranscriptReadyEvent[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const [event] = events;
    if (event === undefined || events.length > 1 || !(cause instanceof Fault) || cause.kind !== 'unavailable')
      throw cause;
    const waiting = { source: 'analysis', type: AnalysisWaiting, reason: cause.message, pauseMs: PAUSE_MS, cause };
    return postponeCall({ db, bus }, event, waiting);
  }
}

/** The queue has the events from here on: they can wait for the server of the model as long as that is away. */
async function queueForModel(
  deps: Deps & Registered,
  queue: Pick<ModelQueue, 'wake'>,
  events: readonly TranscriptReadyEvent[],
): Promise<void> {
  const { store, consumer } = deps;
  await onceUnlessErased({ db: store.db, consumer }, events, async (tx, fresh) => {
    await recordSpeech(deps, tx, fresh);
    await store.requests.add(tx, fresh);
  });
  queue.wake();
}

/** In the transaction that claims the events, so that the speech of each counts once. */
async function recordSpeech(
  { store, speechPrice }: Deps,
  tx: Sql,
  events: readonly TranscriptReadyEvent[],
): Promise<void> {
  const speech = events.flatMap(({ id, firmuuid, subject, time, data }) => {
    const { speech_seconds: seconds, engine, segment_type: segmentType } = data;
    if (seconds === undefined || engine === undefined) return [];
    const cost = speechPrice === undefined || speechPrice === null ? null : costOfSpeech(seconds, speechPrice);
    return [{ eventId: id, firmUuid: firmuuid, callUuid: subject, at: time, engine, segmentType, seconds, cost }];
  });
  await store.money.recordSpeech(tx, speech);
}

/** Publishes that the analysis of a call was given up, and why. */
export async function giveUpAnalysis(
  { store, bus, consumer }: Registered & { store: Store; bus: Bus },
  event: Event,
  reason: FailureReason,
): Promise<GiveUpResult> {
  const deps = { db: store.db, bus, consumer };
  return giveUpCall(deps, { source: 'analysis', stage: 'analysis', what: 'The analysis' }, event, reason);
}

/**
 * Removes the analyses of a call, its request to a language model, and its pending events and dead letters in this service. The
 * result of an analysis that is still running is dropped when it ends.
 */
export async function eraseCall({ store, bus }: { store: Store; bus: Bus }, event: Event): Promise<void> {
  await store.db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
    await store.requests.removeCalls(tx, event.firmuuid, [event.subject]);
    await store.money.forgetCall(tx, event.firmuuid, event.subject);
    await store.removeAnalyses(tx, event.firmuuid, event.subject);
  });
}

/** Removes canceled calls from the queue of the language model: nothing more is spent on them. */
export async function cancelCalls(
  { store }: { store: Store },
  { firmuuid, data }: Event<BodyOf<typeof CallsCanceled>>,
): Promise<void> {
  await store.db.transaction((tx) => store.requests.removeCalls(tx, firmuuid, data.calls));
}
