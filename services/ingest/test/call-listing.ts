import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { ReviewStatus } from '@call-analysis/api/call-query';
import type { Sql } from '@call-analysis/postgres';
import { expect } from '@jest/globals';
import * as fc from 'fast-check';
import { v7 } from 'uuid';
import { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { factsOf } from '../calls/analysis-facts.ts';
import { type CallFilter, NO_FILTER, type Sort } from '../listing/call-filter.ts';
import { listCalls, type ListCallsRequest } from '../listing/list-calls.ts';
import { listFacts } from '../listing/listed-call-store.ts';
import { listing } from '../listing/listing-store.ts';
import type { IngestUnderTest } from './ingest-under-test.ts';

/** A call in the tests' own model of the catalogue. */
export interface Call {
  uuid: string;
  source: string;
  status: string;
  outcome: string | null;
  direction: string | null;
  segment: string;
  operator: string;
  team: string | null;
  campaign: string | null;
  batch: string | null;
  start: number;
  score: number | null;
  operatorId: string | null;
  phone: string;
  language: string | null;
  duration: number | null;
  reviewed: boolean;
  /** Of a reviewed call. */
  reviewer: string;
  reviewIs: 'open' | 'done' | 'acknowledged';
  assignee: string | null;
  disputed: boolean;
  /** Null without an analysis. */
  facts: Facts | null;
}

/** The facts of a call's analysis. */
export interface Facts {
  needsReview: number;
  autoFailed: boolean;
  suspected: boolean;
  topics: string[];
  resolution: string | null;
  silence: number | null;
  points: [question: string, points: number | null, max: number][];
}

export const NEWEST: Sort = { by: 'created_at', isDescending: true };
export const DAY = 86_400_000;
export const BEGIN = Date.UTC(2026, 0, 1);

/** Writes calls into the catalogue without the upload, and lists them. */
export class CallListing {
  readonly #service: IngestUnderTest;
  readonly #collected: number | undefined;

  /** `collected`: how many calls a list sorts as a whole; undefined for as many as the service does. */
  constructor(service: IngestUnderTest, collected?: number) {
    this.#service = service;
    this.#collected = collected;
  }

  get #deps() {
    const { deps } = this.#service;
    return { ...deps, listing: listing(deps.db, new AnalysisBodies(), deps.carryOver, this.#collected) };
  }

  /** Lists calls, after their words were indexed where the filter has some. */
  async ask(firmUuid: string, filter: Partial<CallFilter>, more: Partial<ListCallsRequest> = {}) {
    const deps = this.#deps;
    if (filter.q !== undefined) await deps.words.catchUp(firmUuid, 120_000);
    const complete = { ...NO_FILTER, ...filter };
    return listCalls(deps, firmUuid, { filter: complete, sort: NEWEST, page: 1, cursor: null, size: 10, ...more });
  }

  /** Adds calls with one transcript. */
  async add(firmUuid: string, calls: readonly Call[], transcript = '<operator>Hello'): Promise<void> {
    await this.#service.db.transaction(async (tx) => {
      await insertCalls(tx, firmUuid, calls, transcript);
      await insertReviews(tx, firmUuid, calls);
      await listFacts(
        tx,
        calls.filter(({ facts }) => facts !== null).map((call) => factsFor(firmUuid, call)),
      );
    });
  }

  /** Adds a call for each text, in that order, and returns their uuids. */
  async addTexts(firmUuid: string, texts: readonly { text: string; language: string | null }[]): Promise<string[]> {
    const uuids: string[] = [];
    for (const { text, language } of texts) {
      const call = callOf();
      await this.add(firmUuid, [call], `<operator>${text}`);
      await this.#service.db.query('UPDATE call SET language = $2 WHERE uuid = $1', [call.uuid, language]);
      uuids.push(call.uuid);
    }
    return uuids;
  }

  /** The uuids of the calls that have the words, sorted. */
  async found(firmUuid: string, q: string, filter: Partial<CallFilter> = {}): Promise<string[]> {
    const { items, count } = await this.ask(firmUuid, { q, ...filter }, { size: 100 });
    expect(count).toBe(items.length);
    return items.map(({ uuid }) => uuid).toSorted();
  }

  /** Follows the cursor to the end. */
  async walk(firmUuid: string, filter: CallFilter, sort: Sort, size: number, between?: () => Promise<void>) {
    const uuids: string[] = [];
    for (let cursor: string | null = null; ;) {
      const { items, nextCursor } = await this.ask(firmUuid, filter, { sort, size, cursor });
      uuids.push(...items.map(({ uuid }) => uuid));
      if (nextCursor === null) return uuids;
      cursor = nextCursor;
      await between?.();
    }
  }
}

/** Calls with one transcript and their analyses, as any release stores them. */
export async function insertCalls(
  tx: Sql,
  firmUuid: string,
  calls: readonly Call[],
  transcript: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO call (firm_uuid, uuid, source, status, outcome, direction, segment_type, operator_name, operator_group_name,
       campaign_uuid, batch_uuid, start_time, score, client_phone_number, tagged_text, operator_id, language, duration,
       needs_review, reviewed_at)
     SELECT $1, c.uuid, c.source, c.status, c.outcome, c.direction, c.segment, c.operator, c.team, c.campaign, c.batch,
       to_timestamp(c.start / 1000.0), c.score, c.phone, $3, c."operatorId", c.language, c.duration,
       (c.facts->>'needsReview')::int, CASE WHEN c.reviewed THEN now() END
     FROM jsonb_to_recordset($2::jsonb) AS c (uuid uuid, source text, status text, outcome text, direction text,
       segment text, operator text, team text, campaign uuid, batch uuid, start float8, score float8, "operatorId" text,
       phone text, language text, duration float8, reviewed boolean, facts jsonb)`,
    [firmUuid, JSON.stringify(calls), transcript],
  );
  const analyzed = calls.filter(({ facts }) => facts !== null);
  await tx.query(
    `INSERT INTO analysis (uuid, firm_uuid, call_uuid, body, created_at)
     SELECT gen_random_uuid(), $1, a.uuid, a.body, now() FROM unnest($2::uuid[], $3::bytea[]) AS a (uuid, body)`,
    [firmUuid, analyzed.map(({ uuid }) => uuid), analyzed.map(({ facts }) => bodyOf(facts!))],
  );
}

/** What people have done with the reviews of calls, instead of what they had done before. */
export async function insertReviews(tx: Sql, firmUuid: string, calls: readonly Call[]): Promise<void> {
  const uuids = calls.map(({ uuid }) => uuid);
  for (const table of ['review', 'acknowledgement', 'assignment', 'dispute'])
    await tx.query(`DELETE FROM ${table} WHERE firm_uuid = $1 AND call_uuid = ANY($2)`, [firmUuid, uuids]);
  const given = `jsonb_to_recordset($2::jsonb) AS c (uuid uuid, reviewed boolean, reviewer uuid, "reviewIs" text, assignee uuid,
    disputed boolean)`;
  const parameters = [firmUuid, JSON.stringify(calls)];
  // The review of an analysis that is no longer the current one, and its acknowledgement, count for nothing.
  await tx.query(
    `INSERT INTO review (firm_uuid, call_uuid, analysis_uuid, by_uuid, at, done, answers, body)
     SELECT $1::uuid, uuid, gen_random_uuid(), $3::uuid, now() - interval '1 day', true, '[]'::jsonb, ''::bytea FROM ${given}
     UNION ALL
     SELECT $1::uuid, uuid, gen_random_uuid(), reviewer, now(), "reviewIs" <> 'open', '[]'::jsonb, ''::bytea FROM ${given} WHERE reviewed`,
    [...parameters, people[0]],
  );
  await tx.query(
    `INSERT INTO acknowledgement (firm_uuid, call_uuid, by_uuid, at)
     SELECT $1, uuid, $3, now() - CASE WHEN reviewed AND "reviewIs" = 'acknowledged' THEN interval '0' ELSE interval '1 hour' END
     FROM ${given}`,
    [...parameters, people[0]],
  );
  await tx.query(
    `INSERT INTO assignment (firm_uuid, call_uuid, user_uuid, by_uuid, at)
     SELECT $1, uuid, assignee, assignee, now() FROM ${given} WHERE assignee IS NOT NULL`,
    parameters,
  );
  await tx.query(
    `INSERT INTO dispute (firm_uuid, uuid, call_uuid, question_uuid, reason, status, by_uuid, at)
     SELECT $1, gen_random_uuid(), uuid, gen_random_uuid(), '', CASE WHEN disputed THEN 'open' ELSE 'rejected' END, $3, now()
     FROM ${given}`,
    [...parameters, people[0]],
  );
}

/** Writes what lists have of the call's analysis, as whoever stores one does. */
export async function judge(tx: Sql, firmUuid: string, call: Call): Promise<void> {
  await listFacts(tx, [factsFor(firmUuid, call)]);
}

function factsFor(firmUuid: string, { uuid, facts }: Call) {
  return { firmUuid, callUuid: uuid, facts: facts && factsOf(analysisOf(facts)) };
}

/** An analysis as the catalogue stores it. */
export function bodyOf(facts: Facts): Buffer {
  return deflateRawSync(JSON.stringify(analysisOf(facts)));
}

function analysisOf(facts: Facts) {
  const { needsReview, autoFailed, suspected, topics, resolution, silence, points } = facts;
  const questions = points.map(([uuid, reached, max_points], index) => ({
    uuid,
    text: `Question ${uuid}`,
    weight: 1,
    answer: reached === null ? null : String(reached),
    points: reached,
    max_points,
    needs_review: index < needsReview,
  }));
  return {
    scorecard: { uuid: SCORECARD, name: 'Default', revision: revisionOf(facts) },
    auto_failed: autoFailed,
    auto_fail_suspected: suspected,
    sections: [{ name: 'All', score: null, questions }],
    topics,
    resolution,
    sentiment: { operator: 0, client: -0.25 },
    metrics: { talk_ratio: { operator: 0.6, client: 0.4, silence }, interruptions: silence === null ? null : 2 },
  };
}

/** Some calls are analyzed by one revision and some by another. */
const revisionOf = ({ points }: Facts) => 1 + (points.length % 2);

const SCORECARD = '00000000-0000-7000-8000-00000000aaaa';
const question = (n: number) => `00000000-0000-7000-8000-00000000000${n}`;

let created = 0;

export function callOf(change: Partial<Call> = {}): Call {
  created++;
  return {
    uuid: v7({ msecs: BEGIN + created }),
    source: 'transcription',
    status: 'completed',
    outcome: 'scored',
    direction: 'inbound',
    segment: 'support',
    operator: 'Aziza',
    team: null,
    campaign: null,
    batch: null,
    start: BEGIN,
    score: 50,
    operatorId: null,
    phone: '+998901234567',
    language: null,
    duration: null,
    reviewed: false,
    reviewer: people[0]!,
    reviewIs: 'done',
    assignee: null,
    disputed: false,
    facts: null,
    ...change,
  };
}

const people = [randomUUID(), randomUUID()];
const campaigns = [randomUUID(), randomUUID()];
const batches = [randomUUID(), randomUUID()];

const anyCall = fc.record({
  source: fc.constantFrom('audio', 'transcription'),
  status: fc.constantFrom('queued', 'analyzing', 'completed', 'failed'),
  outcome: fc.constantFrom(null, 'scored', 'no_speech'),
  direction: fc.constantFrom(null, 'inbound', 'outbound'),
  segment: fc.constantFrom('support', 'sales', 'Поддержка'),
  operator: fc.constantFrom('Aziza', "O'ktam", 'Болот'),
  team: fc.constantFrom(null, 'Day', 'Night'),
  campaign: fc.constantFrom(null, ...campaigns),
  batch: fc.constantFrom(null, ...batches),
  start: fc.integer({ min: 0, max: 40 }).map((quarter) => BEGIN + (quarter * DAY) / 4),
  score: fc.constantFrom(null, 0, 12.3, 50, 71.4, 100),
  operatorId: fc.constantFrom(null, '17', 'a-2'),
  phone: fc.constantFrom('+998901234567', '998901234567', '+79161234567'),
  language: fc.constantFrom(null, 'en', 'uz'),
  duration: fc.constantFrom(null, 0, 12.25, 61, 3600),
  facts: fc.option(
    fc.record({
      needsReview: fc.constantFrom(0, 0, 2),
      autoFailed: fc.boolean(),
      suspected: fc.boolean(),
      topics: fc.subarray(['delivery', 'refund', 'price']),
      resolution: fc.constantFrom(null, 'resolved', 'unresolved'),
      silence: fc.constantFrom(null, 0.125),
      points: fc
        .tuple(fc.constantFrom(null, 0, 0.5, 1), fc.constantFrom(null, 2))
        .map(([one, other]): Facts['points'] => [
          [question(1), one, 1],
          [question(2), other, 2],
        ]),
    }),
  ),
  reviewed: fc.boolean(),
  reviewer: fc.constantFrom(...people),
  reviewIs: fc.constantFrom('open' as const, 'done' as const, 'acknowledged' as const),
  assignee: fc.constantFrom(null, null, ...people),
  disputed: fc.constantFrom(false, false, false, true),
});

/** The same random calls for the same seed, with new uuids. */
export function sampleCalls(count: number, seed: number): Call[] {
  return fc.sample(anyCall, { numRuns: count, seed }).map((call): Call => ({
    ...callOf(),
    ...call,
    // A call without speech has no analysis, and only an analysis can be reviewed.
    facts: call.outcome === 'no_speech' ? null : call.facts,
    reviewed: call.reviewed && call.facts !== null && call.outcome !== 'no_speech',
  }));
}

const some = <Value>(...values: Value[]) => fc.subarray(values, { minLength: 1 });
const times = fc.integer({ min: -1, max: 42 }).map((quarter) => new Date(BEGIN + (quarter * DAY) / 4).toISOString());

const allFilters = fc.record({
  status: some('queued', 'completed', 'failed', 'canceled'),
  outcome: some('scored', 'no_speech'),
  segment_type: some('support', 'Поддержка', 'nobody'),
  direction: some('inbound', 'outbound'),
  operator_name: fc.constantFrom('Aziza', 'AZIZA', "o'KTAM", 'БОЛОТ', 'nobody'),
  operator_group_name: fc.constantFrom('Day', 'nighT'),
  needs_review: fc.boolean(),
  reviewed: fc.boolean(),
  auto_failed: fc.boolean(),
  lost_points: fc.constantFrom(question(1), question(2), question(3)),
  scorecard: fc.constantFrom(SCORECARD, question(1)),
  scorecard_revision: fc.constantFrom(1, 2, 3),
  operator_id: fc.constantFrom('17', 'nobody'),
  seen_operators: fc.subarray(['17', 'a-2', 'nobody']),
  client_phone_number: fc.constantFrom('998901234567', '+79161234567', '1234567'),
  language: fc.constantFrom('en', 'uz', 'ky'),
  topic: fc.constantFrom('delivery', 'refund', 'other'),
  resolution: fc.constantFrom('resolved', 'follow_up'),
  duration_min: fc.constantFrom(0, 12.25, 12.26, 61),
  duration_max: fc.constantFrom(0, 12.25, 60.9, 5000),
  batch: fc.constantFrom(...batches),
  campaign: fc.constantFrom(...campaigns),
  source: fc.constantFrom('audio', 'transcription'),
  started_from: times,
  started_to: times,
  score_min: fc.constantFrom(0, 12.3, 12.31, 71.4, 80),
  score_max: fc.constantFrom(0, 12.3, 71.4, 71.45, 100),
  assigned_to: fc.constantFrom(...people, randomUUID()),
  reviewed_by: fc.constantFrom(...people, randomUUID()),
  review_status: some(...ReviewStatus.options),
  auto_fail_suspected: fc.boolean(),
});

/** With more conditions hardly any call would match. */
export const anyFilter = allFilters.chain((all) =>
  fc
    .subarray(Object.entries(all), { maxLength: 3 })
    .map((given) => ({ ...NO_FILTER, ...Object.fromEntries(given) }) as CallFilter),
);

export const anySort: fc.Arbitrary<Sort> = fc.record({
  by: fc.constantFrom('created_at', 'start_time', 'score'),
  isDescending: fc.boolean(),
});

function lost({ facts }: Call, uuid: string): boolean {
  return facts?.points.some(([each, points, max]) => each === uuid && points !== null && points < max) ?? false;
}

function reviewStatus({ disputed, reviewed, reviewIs }: Call): string {
  if (disputed) return 'disputed';
  return reviewed ? reviewIs : 'none';
}

/** The uuids that a complete listing of these calls has to return, in its order. */
export function modelled(calls: readonly Call[], filter: CallFilter, { by, isDescending }: Sort): string[] {
  const isOneOf = (wanted: readonly string[], value: string | null) =>
    wanted.length === 0 || wanted.includes(value ?? '-');
  const is = (wanted: string | undefined, value: string | null) => wanted === undefined || wanted === value;
  const isName = (wanted: string | undefined, value: string | null) =>
    is(wanted?.toLowerCase(), value?.toLowerCase() ?? null);
  const digits = (phone: string) => phone.replace('+', '');
  const flag = (wanted: boolean | undefined, value: boolean) => wanted === undefined || wanted === value;
  const matching = calls.filter(
    (call) =>
      flag(filter.needs_review, (call.facts?.needsReview ?? 0) > 0) &&
      flag(filter.reviewed, call.reviewed) &&
      flag(filter.auto_failed, call.facts?.autoFailed ?? false) &&
      flag(filter.auto_fail_suspected, call.facts?.suspected ?? false) &&
      is(filter.assigned_to, call.assignee) &&
      is(filter.reviewed_by, call.reviewed ? call.reviewer : null) &&
      isOneOf(filter.review_status, reviewStatus(call)) &&
      (filter.lost_points === undefined || lost(call, filter.lost_points)) &&
      is(filter.scorecard, call.facts === null ? null : SCORECARD) &&
      is(filter.scorecard_revision?.toString(), call.facts === null ? null : String(revisionOf(call.facts))) &&
      is(filter.operator_id, call.operatorId) &&
      (filter.seen_operators === undefined || filter.seen_operators.includes(call.operatorId ?? '-')) &&
      (filter.client_phone_number === undefined || digits(filter.client_phone_number) === digits(call.phone)) &&
      is(filter.language, call.language) &&
      (filter.topic === undefined || (call.facts?.topics ?? []).includes(filter.topic)) &&
      is(filter.resolution, call.facts?.resolution ?? null) &&
      (filter.duration_min === undefined || (call.duration !== null && call.duration >= filter.duration_min)) &&
      (filter.duration_max === undefined || (call.duration !== null && call.duration <= filter.duration_max)) &&
      isOneOf(filter.status, call.status) &&
      isOneOf(filter.outcome, call.outcome) &&
      isOneOf(filter.segment_type, call.segment) &&
      isOneOf(filter.direction, call.direction) &&
      isName(filter.operator_name, call.operator) &&
      isName(filter.operator_group_name, call.team) &&
      is(filter.batch, call.batch) &&
      is(filter.campaign, call.campaign) &&
      is(filter.source, call.source) &&
      (filter.started_from === undefined || call.start >= Date.parse(filter.started_from)) &&
      (filter.started_to === undefined || call.start < Date.parse(filter.started_to)) &&
      (filter.score_min === undefined || (call.score ?? -1) >= filter.score_min) &&
      (filter.score_max === undefined || (call.score !== null && call.score <= filter.score_max)),
  );
  const sign = isDescending ? -1 : 1;
  const compare = (one: number | string, other: number | string) => (one < other ? -sign : one > other ? sign : 0);
  return matching
    .toSorted((one, other) => {
      if (by === 'score' && (one.score === null) !== (other.score === null)) return one.score === null ? 1 : -1;
      const first =
        by === 'score'
          ? compare(one.score ?? 0, other.score ?? 0)
          : by === 'start_time'
            ? compare(one.start, other.start)
            : 0;
      return first === 0 ? compare(one.uuid, other.uuid) : first;
    })
    .map(({ uuid }) => uuid);
}
