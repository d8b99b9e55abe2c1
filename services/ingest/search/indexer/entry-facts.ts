import type { Sql } from '@call-analysis/postgres';
import type { AnalysisFacts } from '../../results/analysis-facts.ts';
import { milliseconds } from '../call-query.ts';
import { type FacetKey, type FacetKeys, type FacetKind, lengthStep, lengthValue, phoneTag, TRAITS } from '../facets.ts';

/** The facts of a call in an entry, besides the facets of earlier releases. */
export interface EntryFacts {
  /** The names of its scorecard and questions. */
  readonly labels: readonly { readonly key: FacetKey; readonly label: string }[];
  readonly tagged: readonly FacetKey[];
  readonly language: FacetKey | null;
  readonly resolution: FacetKey | null;
  readonly scorecard: FacetKey | null;
  readonly topics: readonly FacetKey[];
  readonly points: readonly { readonly question: FacetKey; readonly points: number; readonly maxPoints: number }[];
  readonly openAnswers: number;
  readonly isReviewed: boolean;
  readonly autoFailed: boolean;
  readonly durationMs: number | null;
  readonly operatorTalk: number | null;
  readonly silence: number | null;
  readonly interruptions: number | null;
  readonly clientSentiment: number | null;
}

interface IndexedCall {
  readonly firm_uuid: string;
  readonly operator_id: string | null;
  readonly client_phone_number: string;
  readonly language: string | null;
  readonly duration: number | null;
  readonly is_reviewed: boolean;
}

export function factsIn(call: IndexedCall, analysis: AnalysisFacts | null, keys: FacetKeys): EntryFacts {
  const { firm_uuid: firmUuid } = call;
  const facet = (kind: FacetKind, value: string): FacetKey => keys.of(firmUuid, kind, value);
  const known = (kind: FacetKind, value: string | null) => (value === null ? null : facet(kind, value));
  const isReviewed = analysis !== null && call.is_reviewed;
  const traits = [
    ...(analysis !== null && analysis.needsReview > 0 ? [TRAITS.needsReview] : []),
    ...(isReviewed ? [TRAITS.reviewed] : []),
    ...(analysis?.autoFailed === true ? [TRAITS.autoFailed] : []),
  ];
  const language = known('language', call.language);
  const resolution = known('resolution', analysis?.resolution ?? null);
  const scorecard = known('scorecard', analysis?.scorecard.uuid ?? null);
  const topics = (analysis?.topics ?? []).map((topic) => facet('topic', topic));
  const lost = (analysis?.points ?? []).filter(({ points, maxPoints }) => points < maxPoints);
  const tagged = [
    language,
    resolution,
    scorecard,
    ...topics,
    known('number', call.operator_id),
    call.duration === null ? null : facet('length', lengthValue(lengthStep(call.duration))),
    ...traits.map((trait) => facet('trait', trait)),
    ...lost.map(({ uuid }) => facet('lost', uuid)),
  ].filter((each) => each !== null);
  const points = (analysis?.points ?? []).map((each) => ({
    question: facet('question', each.uuid),
    points: thousandths(each.points),
    maxPoints: thousandths(each.maxPoints),
  }));
  return {
    labels: [
      ...(analysis === null || scorecard === null ? [] : [{ key: scorecard, label: analysis.scorecard.name }]),
      ...(analysis?.points ?? []).map(({ text }, index) => ({ key: points[index]!.question, label: text })),
    ],
    tagged,
    language,
    resolution,
    scorecard,
    topics,
    points,
    openAnswers: Math.min(analysis?.needsReview ?? 0, MAX_SMALLINT),
    isReviewed,
    autoFailed: analysis?.autoFailed ?? false,
    durationMs: call.duration === null ? null : Math.min(milliseconds(call.duration), MAX_INT),
    operatorTalk: millionths(analysis?.operatorTalk ?? null),
    silence: millionths(analysis?.silence ?? null),
    interruptions: analysis?.interruptions ?? null,
    clientSentiment:
      analysis === null || analysis.clientSentiment === null ? null : Math.round(analysis.clientSentiment * 100),
  };
}

const MAX_SMALLINT = 32_767;
const MAX_INT = 2 ** 31 - 1;

function thousandths(points: number): number {
  return Math.round(points * 1000);
}

function millionths(share: number | null): number | null {
  return share === null ? null : Math.round(share * 1_000_000);
}

export function phoneTagOf(call: IndexedCall): number {
  return phoneTag(call.firm_uuid, call.client_phone_number);
}

/** The columns of an entry that are made from its facts. */
export interface FactRow extends Omit<EntryFacts, 'language' | 'resolution' | 'scorecard' | 'topics'> {
  readonly tags: readonly number[];
  readonly ids: {
    readonly language: number | null;
    readonly resolution: number | null;
    readonly scorecard: number | null;
  };
  readonly topicIds: readonly number[];
}

export function factColumns(facts: EntryFacts, phone: number, idOf: (key: FacetKey) => number): FactRow {
  const id = (key: FacetKey | null) => (key === null ? null : idOf(key));
  return {
    ...facts,
    tags: [...facts.tagged.map(idOf), phone],
    ids: { language: id(facts.language), resolution: id(facts.resolution), scorecard: id(facts.scorecard) },
    topicIds: facts.topics.map(idOf),
  };
}

/** Values travel as text: PostgreSQL has no arrays of arrays of different lengths. */
export const FACT_COLUMNS: readonly {
  readonly name: string;
  readonly type: string;
  readonly read: (facts: FactRow) => string | null;
}[] = [
  { name: 'tags', type: 'bigint[]', read: ({ tags }) => `{${tags.join(',')}}` },
  { name: 'language', type: 'int', read: ({ ids }) => text(ids.language) },
  { name: 'resolution', type: 'int', read: ({ ids }) => text(ids.resolution) },
  { name: 'scorecard', type: 'int', read: ({ ids }) => text(ids.scorecard) },
  { name: 'topics', type: 'int[]', read: ({ topicIds }) => (topicIds.length === 0 ? null : `{${topicIds.join(',')}}`) },
  { name: 'open_answers', type: 'smallint', read: ({ openAnswers }) => text(openAnswers) },
  { name: 'is_reviewed', type: 'boolean', read: ({ isReviewed }) => String(isReviewed) },
  { name: 'auto_failed', type: 'boolean', read: ({ autoFailed }) => String(autoFailed) },
  { name: 'duration_ms', type: 'int', read: ({ durationMs }) => text(durationMs) },
  { name: 'operator_talk', type: 'int', read: ({ operatorTalk }) => text(operatorTalk) },
  { name: 'silence', type: 'int', read: ({ silence }) => text(silence) },
  { name: 'interruptions', type: 'int', read: ({ interruptions }) => text(interruptions) },
  { name: 'client_sentiment', type: 'int', read: ({ clientSentiment }) => text(clientSentiment) },
];

function text(value: number | null): string | null {
  return value === null ? null : String(value);
}

/** The points of one call, or none for a call without an analysis. */
interface CallPoints {
  readonly firm: number;
  readonly uuid: string;
  readonly questions: readonly number[];
  readonly points: readonly number[];
  readonly maxPoints: readonly number[];
}

export function pointsOf(
  firm: number,
  uuid: string,
  { points }: EntryFacts,
  idOf: (key: FacetKey) => number,
): CallPoints[] {
  if (points.length === 0) return [];
  return [
    {
      firm,
      uuid,
      questions: points.map(({ question }) => idOf(question)),
      points: points.map((each) => each.points),
      maxPoints: points.map((each) => each.maxPoints),
    },
  ];
}

/** A call keeps its former points when its analysis is gone: such a call is erased, or has no speech any more. */
export async function writePoints(tx: Sql, calls: readonly CallPoints[]): Promise<void> {
  if (calls.length === 0) return;
  const literal = (values: readonly number[]) => `{${values.join(',')}}`;
  await tx.query(
    `INSERT INTO call_points (firm, uuid, questions, points, max_points)
     SELECT firm, uuid, questions::int[], points::bigint[], max_points::bigint[]
     FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[]) AS answered (firm, uuid, questions, points, max_points)
     ON CONFLICT (firm, uuid) DO UPDATE SET questions = excluded.questions, points = excluded.points, max_points = excluded.max_points
     WHERE (call_points.questions, call_points.points, call_points.max_points)
       IS DISTINCT FROM (excluded.questions, excluded.points, excluded.max_points)`,
    [
      calls.map(({ firm }) => firm),
      calls.map(({ uuid }) => uuid),
      calls.map(({ questions }) => literal(questions)),
      calls.map(({ points }) => literal(points)),
      calls.map(({ maxPoints }) => literal(maxPoints)),
    ],
  );
}
