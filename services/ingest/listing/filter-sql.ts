import { firmTag } from '../search/tokenizer.ts';
import { type CallFilter, type CallQuery, milliseconds, type Position, scoreRange, type Sort } from './call-filter.ts';

/** What a filter of Get Calls means in SQL, for lists, exports, jobs and statistics alike. */
export interface FilteredCalls {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  /** The words of `filter.q` as a result of `parseWords`, with the firm's number in their documents; null without words. */
  readonly words: { readonly query: string; readonly firmNumber: number } | null;
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

/** The rows of `listed_call` that match, as `c`: the part of a statement that begins after FROM and ends with a condition. */
export function matching(values: Values, table: ListedTable, { firmUuid, filter, words }: FilteredCalls): string {
  const firm = values.add(firmUuid, 'uuid');
  const conditions = [`c.firm_uuid = ${firm}`, ...conditionsOf(values, filter)];
  if (filter.partnerCallId !== null) {
    const id = values.add(filter.partnerCallId, 'text');
    conditions.push(`c.uuid = (SELECT uuid FROM call WHERE firm_uuid = ${firm} AND partner_call_id = ${id})`);
  }
  let documents = '';
  if (words !== null) {
    const number = values.add(words.firmNumber, 'int');
    documents = `JOIN call_text AS t ON t.firm = ${number} AND t.uuid = c.uuid`;
    // The number is a word of each document, so that the index of words finds those of one firm.
    conditions.push(`t.words @@ ${values.add(words.query, 'tsquery')}`);
    conditions.push(`t.words @@ ${values.add(`'${firmTag(words.firmNumber)}'`, 'tsquery')}`);
  }
  return `${table} AS c ${documents} WHERE ${conditions.join(' AND ')}`;
}

function conditionsOf(values: Values, filter: CallFilter): string[] {
  const conditions: string[] = [];
  const anyOf = (column: string, wanted: readonly string[]) => {
    const [one] = wanted;
    if (wanted.length === 1) conditions.push(`c.${column} = ${values.add(one, 'text')}`);
    else if (wanted.length > 1) conditions.push(`c.${column} = ANY(${values.add(wanted, 'text[]')})`);
  };
  const where = <Value>(value: Value | null, type: string, condition: (placeholder: string) => string) => {
    if (value !== null) conditions.push(condition(values.add(value, type)));
  };
  const whether = (wanted: boolean | null, condition: string) => {
    if (wanted !== null) conditions.push(wanted ? condition : `NOT ${condition}`);
  };
  anyOf('status', filter.status);
  anyOf('outcome', filter.outcome);
  anyOf('segment_type', filter.segmentType);
  anyOf('direction', filter.direction);
  where(filter.operatorName, 'text', (name) => `fold_name(c.operator_name) = fold_name(${name})`);
  where(filter.operatorGroupName, 'text', (name) => {
    // The index has the calls with a group only.
    return `c.operator_group_name IS NOT NULL AND fold_name(c.operator_group_name) = fold_name(${name})`;
  });
  where(filter.operatorId, 'text', (id) => `c.operator_id = ${id}`);
  where(filter.seenOperators, 'text[]', (ids) => `c.operator_id = ANY(${ids})`);
  where(filter.batch, 'uuid', (batch) => `c.batch_uuid = ${batch}`);
  where(filter.campaign, 'uuid', (campaign) => `c.campaign_uuid = ${campaign}`);
  where(filter.source, 'text', (source) => `c.source = ${source}`);
  where(filter.language, 'text', (language) => `c.language = ${language}`);
  where(filter.resolution, 'text', (resolution) => `c.resolution = ${resolution}`);
  where(filter.topic, 'text', (topic) => `c.topics @> ARRAY[${topic}]`);
  where(filter.lostPoints, 'uuid', (question) => `c.lost_points @> ARRAY[${question}]`);
  where(filter.clientPhoneNumber, 'text', (phone) => `c.client_phone = phone_digits(${phone})`);
  where(filter.startedFrom, 'timestamptz', (from) => `c.start_time >= ${from}`);
  where(filter.startedTo, 'timestamptz', (to) => `c.start_time < ${to}`);
  const duration = (seconds: number | null) => (seconds === null ? null : milliseconds(seconds));
  where(duration(filter.durationMin), 'bigint', (min) => `c.duration >= ${min}`);
  where(duration(filter.durationMax), 'bigint', (max) => `c.duration <= ${max}`);
  const score = scoreRange(filter);
  where(score?.low ?? null, 'int', (low) => `c.score >= ${low}`);
  where(score?.high ?? null, 'int', (high) => `c.score <= ${high}`);
  whether(filter.needsReview, '(c.needs_review > 0)');
  whether(filter.reviewed, 'c.is_reviewed');
  whether(filter.autoFailed, 'c.auto_failed');
  return conditions;
}

const POSITION = 'c.uuid, c.start_time, c.score';

/** The positions of a page, in order. */
export function pageOf(values: Values, table: ListedTable, query: CallQuery & FilteredCalls): string {
  const { sort, offset, limit } = query;
  const from = matching(values, table, query);
  const first = values.add(offset + limit, 'int');
  const page = (condition: string | null) =>
    `(SELECT ${POSITION} FROM ${from} ${condition === null ? '' : `AND ${condition}`} ORDER BY ${indexOrder(sort)} LIMIT ${first})`;
  const rows = partsOf(values, query).map(page).join(' UNION ALL ');
  return `SELECT * FROM (${rows}) AS c ORDER BY ${orderBy(sort)} LIMIT ${values.add(limit, 'int')} OFFSET ${values.add(offset, 'int')}`;
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
