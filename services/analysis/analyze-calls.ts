import { text } from 'node:stream/consumers';
import type { Bus } from '@call-analysis/bus';
import { buried, claim, claimedBefore, Poison } from '@call-analysis/bus';
import type { Analysis, BodyOf, Event } from '@call-analysis/events';
import { CallAnalyzed, TranscriptReady, Utterance } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Analyst } from './analyst.ts';
import { ensureDefault } from './ensure-default.ts';
import { recognizeLanguage } from './language.ts';
import type { Scorecard } from './scorecard.ts';
import type { Shelf } from './shelf.ts';
import type { NewAnalysis, Store } from './store.ts';

type Ready = Event<BodyOf<typeof TranscriptReady>>;
type Analyzed = Event<BodyOf<typeof CallAnalyzed>>;

interface Parts {
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
  const done = await claimedBefore(store.db, CONSUMER, told.map(({ id }) => id));
  const events = told.filter(({ id }) => !done.has(id));
  if (events.length === 0) return;
  const scorecards = await scorecardsFor(parts, events);
  const results: { event: Ready; fact: Analyzed; row: NewAnalysis | null }[] = [];
  for (const [index, event] of events.entries()) {
    try {
      results.push(await analyze(parts, event, scorecards[index]!));
    } catch (error) {
      // What is missing of an erased call shall not be looked for again.
      if ((await buried(store.db, [event])).size === 0) throw error;
    }
  }
  await store.db.transaction(async (tx) => {
    const erased = await buried(tx, events);
    const claimed = await claim(tx, CONSUMER, events.map((event) => event.id));
    const fresh = results.filter(({ event }) => claimed.has(event.id) && !erased.has(event.subject));
    if (fresh.length === 0) return;
    await store.addAnalyses(tx, fresh.flatMap(({ row }) => (row === null ? [] : [row])));
    await bus.publish(tx, fresh.map(({ fact }) => fact));
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
  const utterances = await utterancesOf(objects, data.transcript);
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
  const fact: Analyzed = {
    id: uuidv7(),
    source: 'analysis',
    type: CallAnalyzed.type,
    time: createdAt.toISOString(),
    subject: event.subject,
    firmuuid: event.firmuuid,
    turn: event.turn,
    traceparent: event.traceparent,
    data: {
      attempt: data.attempt,
      analysis_uuid: uuid,
      outcome: analysis === null ? 'no_speech' : 'scored',
      language,
      analysis,
    },
  };
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
  return { event, fact, row };
}

const Document = z.object({ utterances: z.array(Utterance) });

/** Poison when what stands at the key is no transcript: reading it again would not make it one. */
async function utterancesOf(objects: Objects, transcript: Ready['data']['transcript']): Promise<Utterance[]> {
  if ('utterances' in transcript) return transcript.utterances;
  const document = await text(await objects.open(transcript.key));
  try {
    return Document.parse(JSON.parse(document)).utterances;
  } catch {
    // The parser's own error may quote the conversation.
    throw new Poison(
      'TRANSCRIPT_UNREADABLE',
      'The stored transcript cannot be read. Retry the call to have it stored again.',
    );
  }
}
