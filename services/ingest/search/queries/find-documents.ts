import type { Database, Sql } from '@call-analysis/postgres';
import type { CallQuery, Count, Position } from '../call-query.ts';
import { dayValue, type Facet, readFacetRange } from '../facets.ts';
import { configurations, configurationTag, facetTag, webSearchText } from '../tokenizer.ts';
import { EntryQuery, notIndexed, orderBy, POSITION_COLUMNS, run } from './entry-query.ts';
import { CERTAIN_FACTOR, EXACT_WORD_COUNT, MAX_READS } from './limits.ts';
import { conditionsOf, type Postings, type ResolvedFilter } from './resolve-filter.ts';

/** Groups (blocks or days) that are searched one by one. Words that these lack are rare, and then all are searched. */
const SEPARATE_GROUPS = 8;
/** The most values of one facet that are looked up as tags. */
const MAX_TAGS = 62;
/** A condition that matches a larger share of the firm's calls is checked on each call instead of looked up as a tag. */
const NARROW_SHARE = 0.3;
/** The facets of a call that its document has as tags: those that never change. */
const TAGGED = new Set(['origin', 'segment', 'operator', 'team', 'campaign', 'batch', 'day']);

const LOWEST = '';
const HIGHEST = '~';

/**
 * Parses the words of a query into a tsquery that matches documents of every language, each by its own stems. Null when
 * the text has no word. Quotes make a phrase and a minus excludes a word, as in web searches. No text is invalid.
 */
export async function parseWords(sql: Sql, q: string): Promise<string | null> {
  const [row] = await sql.query<{ queries: string[] }>(
    `SELECT array_agg(websearch_to_tsquery(configuration::regconfig, text)::text ORDER BY position) AS queries
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS parsed (configuration, text, position)`,
    [configurations, configurations.map((configuration) => webSearchText(q, configuration))],
  );
  const queries = row!.queries;
  if (queries.at(-1) === '') return null;
  const [query] = queries;
  // A query that is equal in all languages needs no tags. With only excluded words it does: otherwise it would have no
  // posting list to read.
  if (queries.every((each) => each === query && !each.includes('!'))) return query!;
  return configurations
    .flatMap((configuration, index) =>
      queries[index] === '' ? [] : [`( '${configurationTag(configuration)}' & ( ${queries[index]} ) )`],
    )
    .join(' | ');
}

/** The positions of the calls that match the filter and have the words, in the order of the sort. */
export async function findDocuments(
  db: Database,
  query: CallQuery,
  filter: ResolvedFilter,
  words: string,
): Promise<Position[]> {
  const { limit } = query;
  const groups = await groupsOf(db, query);
  if (groups.length > 0) {
    const found = await searchGroups(db, query, filter, words, groups.slice(0, SEPARATE_GROUPS));
    if (found.length >= limit || groups.length <= SEPARATE_GROUPS) return found;
  }
  const sql = new EntryQuery({ firm: filter.firm, range: null });
  const { from, position } = source(sql, query, filter, words, null);
  const text = `SELECT ${POSITION_COLUMNS} FROM (SELECT ${position} FROM ${from}) AS c
    ORDER BY ${orderBy(query.sort, 'c')} ${pageOf(sql, query)}`;
  return run(db, text, sql, { sorting: true, bitmaps: true });
}

/** How many calls match the filter and have the words. */
export async function countDocuments(
  db: Database,
  query: CallQuery,
  filter: ResolvedFilter,
  words: string,
): Promise<Count> {
  const { firmUuid } = query;
  const unordered = { ...query, after: null, sort: { by: 'created_at', isDescending: true } } as const;
  const blocks = (await readFacetRange(db, firmUuid, 'shelf', LOWEST, HIGHEST)).toReversed();
  const newest = blocks.slice(0, SEPARATE_GROUPS);
  const documents = (of: readonly Facet[]) => of.reduce((sum, { calls }) => sum + calls, 0);
  if (blocks.length > newest.length) {
    const tag = anyTag(newest.map(({ id }) => id));
    const count = Math.round(((await countIn(tag, null)) / Math.max(documents(newest), 1)) * documents(blocks));
    if (count > CERTAIN_FACTOR * EXACT_WORD_COUNT) return { count, isEstimate: true };
  }
  const matched = await countIn(null, MAX_READS);
  return { count: matched, isEstimate: matched === MAX_READS };

  async function countIn(group: string | null, limit: number | null): Promise<number> {
    const sql = new EntryQuery({ firm: filter.firm, range: null });
    const { from } = source(sql, unordered, filter, words, group && sql.value(group, 'tsquery'));
    const text = `SELECT count(*)::int AS matched FROM (SELECT 1 FROM ${from} ${limit === null ? '' : `LIMIT ${limit}`}) AS found`;
    const [row] = await run<{ matched: number }>(db, text, sql, { sorting: true, bitmaps: true });
    return row!.matched;
  }
}

/** Whether the document of one call has the words. */
export async function hasWords(db: Database, firmUuid: string, callUuid: string, words: string): Promise<boolean> {
  const rows = await db.query(
    `SELECT 1 FROM call_text JOIN facet ON facet.id = call_text.firm
     WHERE facet.firm_uuid = $1 AND facet.kind = 'all' AND call_text.uuid = $2 AND words @@ $3::tsquery`,
    [firmUuid, callUuid, words],
  );
  return rows.length > 0;
}

/**
 * Groups of documents that follow each other in the order of the sort: blocks, or days. Groups before the position of
 * the query are left out. A score changes, so there are no groups by score.
 */
async function groupsOf(db: Database, { firmUuid, sort, after }: CallQuery): Promise<Facet[]> {
  if (sort.by === 'score') return [];
  const kind = sort.by === 'created_at' ? 'shelf' : 'day';
  const groups = await readFacetRange(db, firmUuid, kind, LOWEST, HIGHEST);
  if (after === null) return sort.isDescending ? groups.toReversed() : groups;
  const at = kind === 'shelf' ? after.uuid : dayValue(after.startTime);
  const last = groups.findLastIndex(({ value }) => value <= at);
  return sort.isDescending ? groups.slice(0, last + 1).toReversed() : groups.slice(Math.max(last, 0));
}

function searchGroups(
  db: Database,
  query: CallQuery,
  filter: ResolvedFilter,
  words: string,
  groups: readonly Facet[],
): Promise<Position[]> {
  const sql = new EntryQuery({ firm: filter.firm, range: null });
  const tags = sql.value(
    groups.map(({ id }) => anyTag([id])),
    'text[]',
  );
  const { from, position } = source(sql, query, filter, words, 'each.tag::tsquery');
  // PostgreSQL reads group after group and stops at the limit, so the result is in the order of the groups.
  const text = `SELECT ${POSITION_COLUMNS} FROM unnest(${tags}) WITH ORDINALITY AS each (tag, position) CROSS JOIN LATERAL (
      SELECT * FROM (SELECT ${position} FROM ${from} OFFSET 0) AS c
      ORDER BY ${orderBy(query.sort, 'c')}) AS c
    ${pageOf(sql, query)}`;
  return run(db, text, sql, { sorting: true, bitmaps: true });
}

/**
 * The documents that match, as a FROM clause, and the columns of their positions. `group` is an SQL expression for the
 * tag of a group; null is the whole firm.
 */
function source(
  sql: EntryQuery,
  { sort, after }: CallQuery,
  filter: ResolvedFilter,
  words: string,
  group: string | null,
): { from: string; position: string } {
  const asTags = filter.postings.filter(
    ({ column, keys, size }) => TAGGED.has(column) && keys.length <= MAX_TAGS && size < filter.total * NARROW_SHARE,
  );
  const checked = filter.postings.filter((each) => !asTags.includes(each));
  const conditions = conditionsOf(sql, { ...filter, postings: checked }, null);
  const withEntries = conditions.length > 0 || sort.by !== 'created_at';
  const isAfter = sql.after(sort, after);
  const tags = asTags.map(({ keys }: Postings) => sql.value(anyTag(keys), 'tsquery'));
  // Ids of facets belong to one firm, so any of these tags also selects the firm. The firm's own tag has the longest
  // list and is the last resort.
  if (group !== null || tags.length === 0) tags.unshift(group ?? sql.value(anyTag([filter.firm]), 'tsquery'));
  const from = sql.documents(
    { withEntries },
    // As separate conditions, because the GIN index then skips from list to list and stops at the end of the first.
    ...[sql.value(words, 'tsquery'), ...tags].map((wanted) => `t.words @@ ${wanted}`),
    ...conditions,
    isAfter === null ? null : notIndexed(withEntries ? isAfter : isAfter.replace('c.uuid', 't.uuid')),
  );
  const position = withEntries ? 'c.uuid, c.start_time, c.score' : 't.uuid, to_timestamp(0) AS start_time, 0 AS score';
  return { from, position };
}

function pageOf(sql: EntryQuery, { offset, limit }: CallQuery): string {
  return `LIMIT ${sql.value(limit, 'int')} OFFSET ${sql.value(offset, 'int')}`;
}

/** A tsquery that matches documents with the tag of any of the facets. */
function anyTag(ids: readonly number[]): string {
  return ids.map((id) => `'${facetTag(id)}'`).join(' | ');
}
