import { alreadyClaimed, type Bus, claim } from '@call-analysis/bus';
import { findErased, unpackTranscript } from '@call-analysis/call-processing';
import {
  type Analysis,
  type BodyOf,
  CallAnalyzed,
  createEvent,
  type Event,
  publishedAnalysis,
  type TranscriptReady,
} from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { v7 as uuidv7 } from 'uuid';
import type { AnalysisResult, Analyst } from '../analysts/analyst.ts';
import type { Firms } from '../firms.ts';
import { recognizeLanguage } from '../rules/recognize-language.ts';
import { seemSwapped, SWAPPED_NOTE } from '../rules/swapped-channels.ts';
import { findActiveScorecards } from '../scorecards/find-active-scorecards.ts';
import type { ScorecardCache } from '../scorecards/scorecard-cache.ts';
import type { Scorecard } from '../scorecards/scorecard.ts';
import type { NewAnalysis, Store } from '../store.ts';

type TranscriptReadyEvent = Event<BodyOf<typeof TranscriptReady>>;
type CallAnalyzedEvent = Event<BodyOf<typeof CallAnalyzed>>;

export interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly analyst: Analyst;
  readonly firms: Pick<Firms, 'settings'>;
  readonly scorecardCache: ScorecardCache;
}

interface AnalyzedCall {
  readonly event: TranscriptReadyEvent;
  readonly analyzed: CallAnalyzedEvent;
  /** Null for a call without speech. */
  readonly row: NewAnalysis | null;
}

/** The name of the consumer. It is data: its queue has this name, and event claims are stored under it. */
export const CONSUMER = 'analysis';

/** Analyzes calls whose transcripts are ready and publishes the results, once for each event. */
export async function analyzeCalls(parts: Parts, events: readonly TranscriptReadyEvent[]): Promise<void> {
  const { store, bus } = parts;
  // An event may be redelivered long after it was handled. A paid language model must not be asked again.
  const handled = await alreadyClaimed(
    store.db,
    CONSUMER,
    events.map(({ id }) => id),
  );
  const pending = events.filter(({ id }) => !handled.has(id));
  if (pending.length === 0) return;
  const calls = pending.map(({ firmuuid, data }) => ({ firmUuid: firmuuid, segmentType: data.segment_type }));
  const scorecards = await findActiveScorecards(parts, calls);
  const results: AnalyzedCall[] = [];
  for (const [index, event] of pending.entries()) {
    try {
      results.push(await analyzeCall(parts, event, scorecards[index]!));
    } catch (error) {
      // The transcript of an erased call is gone. A retry would not find it either.
      if ((await findErased(store.db, [event])).size === 0) throw error;
    }
  }
  await store.db.transaction(async (tx) => {
    const erased = await findErased(tx, pending);
    const claimed = await claim(
      tx,
      CONSUMER,
      pending.map((event) => event.id),
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

async function analyzeCall(
  { objects, analyst, firms }: Parts,
  event: TranscriptReadyEvent,
  scorecard: Scorecard,
): Promise<AnalyzedCall> {
  const { data } = event;
  const firm = await firms.settings(event.firmuuid);
  const utterances = await unpackTranscript(objects, data.transcript);
  const language = data.language ?? recognizeLanguage(utterances, data.tags);
  const createdAt = new Date();
  const uuid = uuidv7();
  let analysis: Analysis | null = null;
  let note: string | null = null;
  if (utterances.length > 0) {
    let result = await analyst.analyze(
      {
        language,
        firmLanguage: firm.language,
        operatorName: data.operator_name,
        firmName: firm.name,
        tags: data.tags,
        segmentType: data.segment_type,
        duration: data.duration,
        utterances,
      },
      scorecard,
    );
    if (
      data.source === 'audio' &&
      seemSwapped({ language, utterances, operatorName: data.operator_name, firmName: firm.name })
    ) {
      note = SWAPPED_NOTE[firm.language];
      result = allForReview(result);
    }
    analysis = {
      scorecard: { uuid: scorecard.uuid, name: scorecard.name, revision: scorecard.revision },
      analyst: { name: analyst.name, version: analyst.version, model: analyst.model },
      ...result,
      created_at: createdAt.toISOString(),
    };
  }
  const analyzed: CallAnalyzedEvent = createEvent('analysis', CallAnalyzed, event.subject, event, {
    attempt: data.attempt,
    analysis_uuid: uuid,
    outcome: analysis === null ? 'no_speech' : 'scored',
    language,
    analysis: analysis && publishedAnalysis(analysis),
    note,
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

function allForReview(result: AnalysisResult): AnalysisResult {
  const sections = result.sections.map((section) => ({
    ...section,
    questions: section.questions.map((question) => ({ ...question, needs_review: true })),
  }));
  return { ...result, sections };
}
