import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import * as fc from 'fast-check';
import { v7 } from 'uuid';
import { listCalls, type ListCallsRequest } from '../listing/list-calls.ts';
import { type CallFilter, NO_FILTER, type Sort, type Store } from '../store/index.ts';
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
}

export const NEWEST: Sort = { by: 'created_at', isDescending: true };
export const DAY = 86_400_000;
export const BEGIN = Date.UTC(2026, 0, 1);

/** Writes calls into the catalogue without the upload, and lists them. */
export class CallListing {
  readonly #service: IngestUnderTest;

  constructor(service: IngestUnderTest) {
    this.#service = service;
  }

  /** Lists calls, and waits for the index however busy the machine is. */
  ask(firmUuid: string, filter: Partial<CallFilter>, more: Partial<ListCallsRequest> = {}) {
    const { store } = this.#service.parts;
    const catchUp: typeof store.search.catchUp = (firm, { words }) =>
      store.search.catchUp(firm, { words, withinMs: 120_000 });
    return this.askIn({ ...store, search: { ...store.search, catchUp } }, firmUuid, filter, more);
  }

  askIn(store: Store, firmUuid: string, filter: Partial<CallFilter>, more: Partial<ListCallsRequest> = {}) {
    const complete = { ...NO_FILTER, ...filter };
    return listCalls(store, firmUuid, { filter: complete, sort: NEWEST, page: 1, cursor: null, size: 10, ...more });
  }

  /** Adds calls with one transcript, and notes them for the index. */
  async add(firmUuid: string, calls: readonly Call[], transcript = '<operator>Hello'): Promise<void> {
    const { store } = this.#service.parts;
    await this.#service.db.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO call (firm_uuid, uuid, source, status, outcome, direction, segment_type, operator_name, operator_group_name,
           campaign_uuid, batch_uuid, start_time, score, client_phone_number, tagged_text)
         SELECT $1, c.uuid, c.source, c.status, c.outcome, c.direction, c.segment, c.operator, c.team, c.campaign, c.batch,
           to_timestamp(c.start / 1000.0), c.score, '+998901234567', $3
         FROM jsonb_to_recordset($2::jsonb) AS c (uuid uuid, source text, status text, outcome text, direction text,
           segment text, operator text, team text, campaign uuid, batch uuid, start float8, score float8)`,
        [firmUuid, JSON.stringify(calls), transcript],
      );
      for (const { uuid } of calls) await store.search.noteNewCalls(tx, firmUuid, uuid, uuid, 1);
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
    ...change,
  };
}

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
});

/** The same random calls for the same seed, with new uuids. */
export function sampleCalls(count: number, seed: number): Call[] {
  return fc.sample(anyCall, { numRuns: count, seed }).map((call): Call => ({ ...callOf(), ...call }));
}

const some = <Value>(...values: Value[]) => fc.subarray(values, { minLength: 1 });
const times = fc.integer({ min: -1, max: 42 }).map((quarter) => new Date(BEGIN + (quarter * DAY) / 4));

export const anyFilter = fc
  .record(
    {
      status: some('queued', 'completed', 'failed', 'canceled'),
      outcome: some('scored', 'no_speech'),
      segmentType: some('support', 'Поддержка', 'nobody'),
      direction: some('inbound', 'outbound'),
      operatorName: fc.constantFrom('Aziza', "O'ktam", 'nobody'),
      operatorGroupName: fc.constantFrom('Day', 'Night'),
      batch: fc.constantFrom(...batches),
      campaign: fc.constantFrom(...campaigns),
      source: fc.constantFrom('audio', 'transcription'),
      startedFrom: times,
      startedTo: times,
      scoreMin: fc.constantFrom(0, 12.3, 12.31, 71.4, 80),
      scoreMax: fc.constantFrom(0, 12.3, 71.4, 71.45, 100),
    },
    { requiredKeys: [] },
  )
  .map((given) => ({ ...NO_FILTER, ...given }) as CallFilter);

export const anySort: fc.Arbitrary<Sort> = fc.record({
  by: fc.constantFrom('created_at', 'start_time', 'score'),
  isDescending: fc.boolean(),
});

/** The uuids that a complete listing of these calls has to return, in its order. */
export function modelled(calls: readonly Call[], filter: CallFilter, { by, isDescending }: Sort): string[] {
  const isOneOf = (wanted: readonly string[], value: string | null) =>
    wanted.length === 0 || wanted.includes(value ?? '-');
  const is = (wanted: string | null, value: string | null) => wanted === null || wanted === value;
  const matching = calls.filter(
    (call) =>
      isOneOf(filter.status, call.status) &&
      isOneOf(filter.outcome, call.outcome) &&
      isOneOf(filter.segmentType, call.segment) &&
      isOneOf(filter.direction, call.direction) &&
      is(filter.operatorName, call.operator) &&
      is(filter.operatorGroupName, call.team) &&
      is(filter.batch, call.batch) &&
      is(filter.campaign, call.campaign) &&
      is(filter.source, call.source) &&
      (filter.startedFrom === null || call.start >= filter.startedFrom.getTime()) &&
      (filter.startedTo === null || call.start < filter.startedTo.getTime()) &&
      (filter.scoreMin === null || (call.score ?? -1) >= filter.scoreMin) &&
      (filter.scoreMax === null || (call.score !== null && call.score <= filter.scoreMax)),
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
