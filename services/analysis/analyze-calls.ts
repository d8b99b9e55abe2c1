import { alreadyClaimed, type Bus, claim } from '@call-analysis/bus';
import { findErased, unpackTranscript } from '@call-analysis/call-processing';
import {
  type Analysis,
  type BodyOf,
  CallAnalyzed,
  createEvent,
  type Event,
  type TranscriptReady,
} from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { v7 as uuidv7 } from 'uuid';
import type { Analyst } from './analyst.ts';
import { ensureDefault } from './ensure-default.ts';
import { recognizeLanguage } from './language.ts';
import type { Scorecard } from './scorecard.ts';
import type { Shelf } from './shelf.ts';
import type { NewAnalysis, Store } from './store.ts';

type Ready = Event<BodyOf<typeof TranscriptReady>>;
type Analyzed = Event<BodyOf<typeof CallAnalyzed>>;

export interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly analyst: Analyst;
  readonly shelf: Shelf;
}

export const CONSUMER = 'analysis';

/** Analyses calls whose transcripts are ready, and tells: each event once, however often it comes. */
export async function analyzeCalls(parts: Parts, told: readonly Ready[]): Promise<void> {
  const { store, bus } = parts;
  // Some may come again long after, when how far facts were read is forgotten: a model that is paid for is not asked anew.
  const done = await alreadyClaimed(
    store.db,
    CONSUMER,
    told.map(({ id }) => id),
  );
  const events = told.filter(({ id }) => !done.has(id));
  if (events.length === 0) return;
  const scorecards = await scorecardsFor(parts, events);
  const results: { event: Ready; analyzed: Analyzed; row: NewAnalysis | null }[] = [];
  for (const [index, event] of events.entries()) {
    try {
      results.push(await analyze(parts, event, scorecards[index]!));
    } catch (error) {
      // What is missing of an erased call shall not be looked for again.
      if ((await findErased(store.db, [event])).size === 0) throw error;
    }
  }
  await store.db.transaction(async (tx) => {
    const erased = await findErased(tx, events);
    const claimed = await claim(
      tx,
      CONSUMER,
      events.map((event) => event.id),
    );
    const fresh = results.filter(({ event }) => claimed.has(event.id) && !erased.has(event.subject));
    if (fresh.length === 0) return;
    await store.addAnalyses(
      tx,
      fresh.flatMap(({ row }) => (row === null ? [] : [row])),
    );
    await bus.publish(
      tx,
      fresh.map(({ analyzed }) => analyzed),
    );
  });
}

/** What each call is scored by: the revision that is in force for its firm and segment type now. */
async function scorecardsFor({ store, shelf }: Parts, events: readonly Ready[]): Promise<Scorecard[]> {
  const calls = events.map(({ firmuuid, data }) => ({ firmUuid: firmuuid, segmentType: data.segment_type }));
  const asked = [...new Map(calls.map((call) => [kindOf(call), call])).values()];
  let inForce = await store.scorecards.inForce(asked);
  const without = new Set(asked.filter((_, index) => inForce[index] === null).map(({ firmUuid }) => firmUuid));
  if (without.size > 0) {
    for (const firmUuid of without) await ensureDefault(store, firmUuid);
    inForce = await store.scorecards.inForce(asked);
  }
  const names = inForce.map((name) => name!);
  const found = await shelf.take(names, (missing) => store.scorecards.revisions(missing));
  const byKind = new Map(asked.map((call, index) => [kindOf(call), found[index]!]));
  return calls.map((call) => byKind.get(kindOf(call))!);
}

function kindOf({ firmUuid, segmentType }: { firmUuid: string; segmentType: string }): string {
  return `${firmUuid}/${segmentType}`;
}

async function analyze(parts: Parts, event: Ready, scorecard: Scorecard) {
  const { objects, analyst } = parts;
  const { data } = event;
  const utterances = await unpackTranscript(objects, data.transcript);
  const language = data.language ?? recognizeLanguage(utterances, data.tags);
  const createdAt = new Date();
  const uuid = uuidv7();
  let analysis: Analysis | null = null;
  if (utterances.length > 0) {
    const verdict = await analyst.analyze(
      { language, tags: data.tags, segmentType: data.segment_type, duration: data.duration, utterances },
      scorecard,
    );
    analysis = {
      scorecard: { uuid: scorecard.uuid, name: scorecard.name, revision: scorecard.revision },
      analyst: { name: analyst.name, version: analyst.version },
      ...verdict,
      created_at: createdAt.toISOString(),
    };
  }
  const analyzed: Analyzed = createEvent('analysis', CallAnalyzed, event.subject, event, {
    attempt: data.attempt,
    analysis_uuid: uuid,
    outcome: analysis === null ? 'no_speech' : 'scored',
    language,
    analysis,
  });
  const row: NewAnalysis | null = analysis && {
    uuid,
    callUuid: event.subject,
    firmUuid: event.firmuuid,
    attempt: data.attempt,
    scorecardUuid: scorecard.uuid,
    revision: scorecard.revision,
    score: analysis.score,
    createdAt,
  };
  return { event, analyzed, row };
}
