import { Fault } from '@call-analysis/fault';
import { firmTag } from '../search/tokenizer.ts';
import type { SearchedWords } from '../search/word-store.ts';
import {
  type CallFilter,
  type CallQuery,
  milliseconds,
  NO_FILTER,
  type Position,
  scoreRange,
  type Sort,
} from './call-filter.ts';

/** What a filter of Get Calls means in SQL, for lists, exports, jobs and statistics alike. */
export interface FilteredCalls {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  /** Those of `filter.q`; null without words. */
  readonly words: SearchedWords | null;
}

/** `listed_call`, or the view that stands for it while calls are carried over. */
export type ListedTable = 'listed_call' | 'carried_listed_call';

/** The values of a statement, each with its placeholder. */
export class Values {
  readonly all: unknown[] = [];

  add(value: unknown, type: string): string {
    this.all.push(value);
    return `$${this.all.length}::${type}`;
  }
}

/**
 * The rows of `listed_call` that match, as `c`: the part of a statement that begins after FROM and ends with a condition. They are
 * of `source`, which is the table itself or a part of it. `documents`: a part of the statement that has the uuids of those with the words.
 */
export function matching(
  values: Values,
  table: ListedTable,
  { firmUuid, filter, words }: FilteredCalls,
  { source = table, documents }: { readonly source?: string; readonly documents?: string } = {},
): string {
  const firm = values.add(firmUuid, 'uuid');
  if (table === 'carried_listed_call' && filter.auto_fail_suspected !== undefined) {
    // The former index did not have it.
    const message =
      'Calls of the last release are being carried over. auto_fail_suspected can be used once that is done, in some minutes.';
    throw new Fault('unavailable', 'UNAVAILABLE', message);
  }
  const conditions = [
    `c.firm_uuid = ${firm}`,
    ...conditionsOf(values, filter),
    ...reviewConditions(values, firm, filter),
  ];
  if (filter.partner_call_id !== undefined) {
    const id = values.add(filter.partner_call_id, 'text');
    conditions.push(`c.uuid = (SELECT uuid FROM call WHERE firm_uuid = ${firm} AND partner_call_id = ${id})`);
  }
  let from = `${source} AS c`;
  if (words !== null && documents !== undefined) {
    conditions.push(`c.uuid = ANY(ARRAY(SELECT uuid FROM ${documents}))`);
  } else if (words !== null) {
    from = `${from} JOIN call_text AS t ON t.uuid = c.uuid`;
    conditions.push(hasWords(values, words));
  }
  return `${from} WHERE ${conditions.join(' AND ')}`;
}

/** The condition for documents `t` with the words. */
function hasWords(values: Values, { firmNumber, query }: SearchedWords): string {
  // The number is a word of each document, so that the index of words finds those of one firm.
  return `t.firm = ${values.add(firmNumber, 'int')} AND t.words @@ ${values.add(query, 'tsquery')}
    AND t.words @@ ${values.add(`'${firmTag(firmNumber)}'`, 'tsquery')}`;
}

function conditionsOf(values: Values, filter: CallFilter): string[] {
  const conditions: string[] = [];
  const anyOf = (column: string, wanted: readonly string[]) => {
    const [one] = wanted;
    if (wanted.length === 1) conditions.push(`c.${column} = ${values.add(one, 'text')}`);
    else if (wanted.length > 1) conditions.push(`c.${column} = ANY(${values.add(wanted, 'text[]')})`);
  };
  const where = <Value>(value: Value | undefined, type: string, condition: (placeholder: string) => string) => {
    if (value !== undefined) conditions.push(condition(values.add(value, type)));
  };
  const whether = (wanted: boolean | undefined, condition: string) => {
    if (wanted !== undefined) conditions.push(wanted ? condition : `NOT ${condition}`);
  };
  anyOf('status', filter.status);
  anyOf('outcome', filter.outcome);
  anyOf('segment_type', filter.segment_type);
  anyOf('direction', filter.direction);
  where(filter.operator_name, 'text', (name) => `fold_name(c.operator_name) = fold_name(${name})`);
  where(filter.operator_group_name, 'text', (name) => {
    // The index has the calls with a group only.
    return `c.operator_group_name IS NOT NULL AND fold_name(c.operator_group_name) = fold_name(${name})`;
  });
  where(filter.operator_id, 'text', (id) => `c.operator_id = ${id}`);
  where(filter.seen_operators, 'text[]', (ids) => `c.operator_id = ANY(${ids})`);
  where(filter.batch, 'uuid', (batch) => `c.batch_uuid = ${batch}`);
  where(filter.campaign, 'uuid', (campaign) => `c.campaign_uuid = ${campaign}`);
  where(filter.source, 'text', (source) => `c.source = ${source}`);
  where(filter.language, 'text', (language) => `c.language = ${language}`);
  where(filter.resolution, 'text', (resolution) => `c.resolution = ${resolution}`);
  where(filter.topic, 'text', (topic) => `c.topics @> ARRAY[${topic}]`);
  where(filter.lost_points, 'uuid', (question) => `c.lost_points @> ARRAY[${question}]`);
  where(filter.scorecard, 'uuid', (scorecard) => `c.scorecard_uuid = ${scorecard}`);
  where(filter.scorecard_revision, 'int', (revision) => `c.scorecard_revision = ${revision}`);
  where(filter.client_phone_number, 'text', (phone) => `c.client_phone = phone_digits(${phone})`);
  where(filter.started_from, 'timestamptz', (from) => `c.start_time >= ${from}`);
  where(filter.started_to, 'timestamptz', (to) => `c.start_time < ${to}`);
  const duration = (seconds: number | undefined) => seconds && milliseconds(seconds);
  where(duration(filter.duration_min), 'bigint', (min) => `c.duration >= ${min}`);
  where(duration(filter.duration_max), 'bigint', (max) => `c.duration <= ${max}`);
  const score = scoreRange(filter);
  where(score?.low, 'int', (low) => `c.score >= ${low}`);
  where(score?.high, 'int', (high) => `c.score <= ${high}`);
  whether(filter.needs_review, '(c.needs_review > 0)');
  whether(filter.reviewed, 'c.is_reviewed');
  whether(filter.auto_failed, 'c.auto_failed');
  whether(filter.auto_fail_suspected, 'c.auto_fail_suspected');
  return conditions;
}

/**
 * What people do with a review is read where it is stored: only some calls have it. The newest review of a call is that of its
 * current analysis, if that has one.
 */
function reviewConditions(values: Values, firm: string, filter: CallFilter): string[] {
  const conditions: string[] = [];
  const review = (column: string) =>
    `(SELECT ${column} FROM review WHERE review.firm_uuid = ${firm} AND review.call_uuid = c.uuid ORDER BY review.at DESC LIMIT 1)`;
  if (filter.assigned_to !== undefined) {
    const user = values.add(filter.assigned_to, 'uuid');
    conditions.push(`c.uuid IN (SELECT call_uuid FROM assignment WHERE firm_uuid = ${firm} AND user_uuid = ${user})`);
  }
  if (filter.reviewed_by !== undefined) {
    const user = values.add(filter.reviewed_by, 'uuid');
    const theirs = `SELECT call_uuid FROM review WHERE firm_uuid = ${firm} AND by_uuid = ${user}`;
    conditions.push(`c.is_reviewed AND c.uuid IN (${theirs}) AND ${review('by_uuid')} = ${user}`);
  }
  if (filter.review_status.length > 0) {
    const disputed = `c.uuid IN (SELECT call_uuid FROM dispute WHERE firm_uuid = ${firm} AND status = 'open')`;
    const acknowledged = `EXISTS (SELECT FROM acknowledgement AS a
      WHERE a.firm_uuid = ${firm} AND a.call_uuid = c.uuid AND a.at >= review.at)`;
    const reviewed = review(`CASE WHEN ${acknowledged} THEN 'acknowledged' WHEN done THEN 'done' ELSE 'open' END`);
    const status = `CASE WHEN ${disputed} THEN 'disputed' WHEN NOT c.is_reviewed THEN 'none' ELSE ${reviewed} END`;
    const wanted = filter.review_status;
    // These spare PostgreSQL the calls of which the status cannot be one of them.
    if (wanted.every((each) => each === 'disputed')) conditions.push(disputed);
    else if (wanted.every((each) => each !== 'none' && each !== 'disputed')) conditions.push('c.is_reviewed');
    conditions.push(`${status} = ANY(${values.add(wanted, 'text[]')})`);
  }
  return conditions;
}

const POSITION = 'c.uuid, c.start_time, c.score';

/** What a list is sorted by. With no other columns, PostgreSQL often need not read the rows of all calls that match, but an index alone. */
function sortKey({ by }: Sort): string {
  return { created_at: 'c.uuid', start_time: 'c.uuid, c.start_time', score: 'c.uuid, c.score' }[by];
}

/**
 * The parts of a statement that collects all calls that match, and sorts them: `found` has them, `page` those of the page with
 * their `place`, and `count` how many there are. Of more than `most`, or of words in more documents than that, `count` is above it.
 */
export function collectedPage(
  values: Values,
  table: ListedTable,
  query: CallQuery & FilteredCalls,
  most: number,
): { readonly parts: string; readonly count: string } {
  const { words, sort } = query;
  const limit = values.add(most + 1, 'int');
  const page = placed(values, query, `SELECT * FROM found AS c WHERE true ${afterIn(values, query)}`);
  const count = '(SELECT count(*) FROM found)';
  if (words === null) {
    const found = `SELECT ${sortKey(sort)} FROM ${matching(values, table, query)} LIMIT ${limit}`;
    return { parts: `found AS MATERIALIZED (${found}), ${page}`, count };
  }
  const documents = `SELECT t.uuid FROM call_text AS t WHERE ${hasWords(values, words)} LIMIT ${limit}`;
  const areMore = `((SELECT count(*) FROM documents) >= ${limit})`;
  const found = `SELECT ${sortKey(sort)} FROM ${matching(values, table, query, { documents: 'documents' })} AND NOT ${areMore}`;
  return {
    parts: `documents AS MATERIALIZED (${documents}), found AS MATERIALIZED (${found}), ${page}`,
    count: `CASE WHEN ${areMore} THEN ${limit} ELSE ${count} END`,
  };
}

/**
 * The same where many match: `page` is looked for among the first `most` calls of the sort, before all that match are sorted. PostgreSQL
 * takes matches for evenly spread there. Where they are not, as those of an old batch among the newest calls, it would read all calls of
 * the firm for one page.
 */
export function sortedPage(values: Values, table: ListedTable, query: CallQuery & FilteredCalls, most: number): string {
  const { firmUuid, sort, offset, limit } = query;
  const { batch, campaign, started_from, started_to, score_min, score_max } = query.filter;
  // What an index has in the order of the sort: the walk begins there.
  const range = {
    created_at: batch === undefined ? { campaign } : { batch },
    start_time: { started_from, started_to },
    score: { score_min, score_max },
  }[sort.by];
  const [first] = partsOf(values, query);
  const within = [
    `c.firm_uuid = ${values.add(firmUuid, 'uuid')}`,
    ...(first === null ? [] : [first]),
    ...conditionsOf(values, { ...NO_FILTER, ...range }),
  ];
  const order = indexOrder(sort);
  const reach = values.add(offset + limit, 'int');
  const calls = `(SELECT c.* FROM ${table} AS c WHERE ${within.join(' AND ')}
    ORDER BY ${order} LIMIT ${values.add(most + 2 * (offset + limit), 'int')})`;
  const walked = `SELECT ${sortKey(sort)} FROM ${matching(values, table, query, { source: calls })} ORDER BY ${order} LIMIT ${reach}`;
  const isReached = `((SELECT count(*) FROM walked) >= ${reach})`;
  // Behind OFFSET 0 PostgreSQL does not see that few rows are wanted.
  const all = `SELECT ${sortKey(sort)} FROM ${matching(values, table, query)} AND NOT ${isReached} ${afterIn(values, query)} OFFSET 0`;
  const either = `SELECT * FROM walked WHERE ${isReached} UNION ALL SELECT * FROM (${all}) AS c`;
  return `walked AS MATERIALIZED (${walked}), ${placed(values, query, either)}`;
}

/** The part of a statement that orders calls. */
function placed(values: Values, { sort, offset, limit }: CallQuery, positions: string): string {
  const page = `SELECT * FROM (${positions}) AS c
    ORDER BY ${orderBy(sort)} LIMIT ${values.add(limit, 'int')} OFFSET ${values.add(offset, 'int')}`;
  return `page AS MATERIALIZED (
    SELECT c.uuid AS position_uuid, row_number() OVER (ORDER BY ${orderBy(sort)}) AS place FROM (${page}) AS c)`;
}

/** The positions of the next calls of a walk through all that match, in order. */
export function pageOf(values: Values, table: ListedTable, query: CallQuery & FilteredCalls): string {
  const { sort, limit } = query;
  const from = matching(values, table, query);
  const most = values.add(limit, 'int');
  const page = (condition: string | null) =>
    `(SELECT ${POSITION} FROM ${from} ${and(condition)} ORDER BY ${indexOrder(sort)} LIMIT ${most})`;
  const rows = partsOf(values, query).map(page).join(' UNION ALL ');
  return `SELECT * FROM (${rows}) AS c ORDER BY ${orderBy(sort)} LIMIT ${most}`;
}

function afterIn(values: Values, query: CallQuery): string {
  return query.after === null ? '' : `AND (${partsOf(values, query).join(' OR ')})`;
}

function and(condition: string | null): string {
  return condition === null ? '' : `AND ${condition}`;
}

/** The parts of a list, each in the order of an index. By ascending scores, calls without one come last. */
function partsOf(values: Values, { sort, after }: CallQuery): (string | null)[] {
  const isAfter = afterPosition(values, sort, after);
  if (sort.by !== 'score' || sort.isDescending) return [isAfter];
  const last = 'c.score < 0';
  if (after !== null && after.score < 0) return [`${last} AND ${isAfter}`];
  return [isAfter === null ? 'c.score >= 0' : `c.score >= 0 AND ${isAfter}`, last];
}

/** The condition for calls after a position, as the index of the sort has them. */
function afterPosition(values: Values, { by, isDescending }: Sort, position: Position | null): string | null {
  if (position === null) return null;
  const than = isDescending ? '<' : '>';
  const uuid = values.add(position.uuid, 'uuid');
  if (by === 'created_at') return `c.uuid ${than} ${uuid}`;
  if (by === 'start_time')
    return `(c.start_time, c.uuid) ${than} (${values.add(position.startTime, 'timestamptz')}, ${uuid})`;
  return `(c.score, c.uuid) ${than} (${values.add(position.score, 'smallint')}, ${uuid})`;
}

function indexOrder({ by, isDescending }: Sort): string {
  const column = { created_at: [], start_time: ['c.start_time'], score: ['c.score'] }[by];
  return [...column, 'c.uuid'].map((each) => `${each} ${isDescending ? 'DESC' : 'ASC'}`).join(', ');
}

/** The score is -1 without one. */
function orderBy(sort: Sort): string {
  return sort.by === 'score' && !sort.isDescending ? `(c.score < 0), ${indexOrder(sort)}` : indexOrder(sort);
}
