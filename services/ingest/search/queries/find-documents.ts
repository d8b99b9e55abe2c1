import type { Database, Sql } from '@call-analysis/postgres';
import { dayOf, type Facet, readFacetsBetween } from '../facets.ts';
import { CLEARLY, type Count, COUNTED_BY_WORDS, type Place, type Question, READ_THROUGH } from '../call-query.ts';
import { conditionsOf, type Selection, type Way } from './resolve-filter.ts';
import { EntryQuery, onlyChecked, orderOf, PLACE, run } from './entry-query.ts';
import { askedFor, configurations, tagOfConfiguration, tagOfFacet } from '../tokenizer.ts';

/** Shelves, or days, that are gone through one by one. What these do not show is rare, and soon looked for everywhere. */
const ONE_BY_ONE = 8;
/** Alternatives of a facet that documents are looked up by. */
const MANY_TAGS = 62;
/** The share of a firm's calls beyond which it is cheaper to look at each call that has the words. */
const NARROW = 0.3;
/** What a document says of its call, besides its words. */
const TAGGED = new Set(['origin', 'segment', 'operator', 'team', 'campaign', 'batch', 'day']);

const FIRST = '';
const LAST = '~';

/**
 * What is searched for, as it looks in each language: documents of that language which have it. Null when there is no
 * word in it. Quotes hold a phrase together and a minus rules a word out, as web searches have it; no text is refused.
 */
export async function wordsOf(sql: Sql, q: string): Promise<string | null> {
  const [row] = await sql.query<{ queries: string[] }>(
    `SELECT array_agg(websearch_to_tsquery(configuration::regconfig, said)::text ORDER BY place) AS queries
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (configuration, said, place)`,
    [configurations, configurations.map((configuration) => askedFor(q, configuration))],
  );
  const queries = row!.queries;
  if (queries.at(-1) === '') return null;
  const [query] = queries;
  // What is the same in every language need not be looked for in each; without a tag nothing but a minus finds no list.
  if (queries.every((each) => each === query && !each.includes('!'))) return query!;
  return configurations
    .flatMap((configuration, index) =>
      queries[index] === '' ? [] : [`( '${tagOfConfiguration(configuration)}' & ( ${queries[index]} ) )`],
    )
    .join(' | ');
}

/** The places of the calls that match and have the words, in the order of the sort. */
export async function findDocuments(
  db: Database,
  question: Question,
  selection: Selection,
  words: string,
): Promise<Place[]> {
  const { limit } = question;
  const groups = await groupsOf(db, question);
  if (groups.length > 0) {
    const found = await readGroups(db, question, selection, words, groups.slice(0, ONE_BY_ONE));
    if (found.length >= limit || groups.length <= ONE_BY_ONE) return found;
  }
  const query = new EntryQuery({ firm: selection.firm, span: null });
  const { from, place } = source(query, question, selection, words, null);
  const text = `SELECT ${PLACE} FROM (SELECT ${place} FROM ${from}) AS c
    ORDER BY ${orderOf(question.sort, 'c')} ${pageOf(query, question)}`;
  return run(db, text, query, { sorting: true, bitmaps: true });
}

/** How many calls match and have the words. */
export async function countDocuments(
  db: Database,
  question: Question,
  selection: Selection,
  words: string,
): Promise<Count> {
  const { firmUuid } = question;
  const asked = { ...question, after: null, sort: { by: 'created_at', isDescending: true } } as const;
  const shelves = (await readFacetsBetween(db, firmUuid, 'shelf', FIRST, LAST)).toReversed();
  const near = shelves.slice(0, ONE_BY_ONE);
  const texts = (of: readonly Facet[]) => of.reduce((sum, { calls }) => sum + calls, 0);
  if (shelves.length > near.length) {
    const tag = tagged(near.map(({ id }) => id));
    const count = Math.round(((await countAmong(tag, null)) / Math.max(texts(near), 1)) * texts(shelves));
    if (count > CLEARLY * COUNTED_BY_WORDS) return { count, isEstimate: true };
  }
  const matched = await countAmong(null, READ_THROUGH);
  return { count: matched, isEstimate: matched === READ_THROUGH };

  async function countAmong(group: string | null, limit: number | null): Promise<number> {
    const query = new EntryQuery({ firm: selection.firm, span: null });
    const { from } = source(query, asked, selection, words, group && query.value(group, 'tsquery'));
    const text = `SELECT count(*)::int AS matched FROM (SELECT 1 FROM ${from} ${limit === null ? '' : `LIMIT ${limit}`}) AS found`;
    const [row] = await run<{ matched: number }>(db, text, query, { sorting: true, bitmaps: true });
    return row!.matched;
  }
}

/** Whether one call has the words. */
export async function hasWords(db: Database, firmUuid: string, callUuid: string, words: string): Promise<boolean> {
  const rows = await db.query(
    `SELECT 1 FROM call_text JOIN facet ON facet.id = call_text.firm
     WHERE facet.firm_uuid = $1 AND facet.kind = 'all' AND call_text.uuid = $2 AND words @@ $3::tsquery`,
    [firmUuid, callUuid, words],
  );
  return rows.length > 0;
}

/**
 * Groups of documents that follow each other in the order of the sort, as far as there may be something behind the
 * place. A score changes, so no group is made by it.
 */
async function groupsOf(db: Database, { firmUuid, sort, after }: Question): Promise<Facet[]> {
  if (sort.by === 'score') return [];
  const kind = sort.by === 'created_at' ? 'shelf' : 'day';
  const groups = await readFacetsBetween(db, firmUuid, kind, FIRST, LAST);
  if (after === null) return sort.isDescending ? groups.toReversed() : groups;
  const at = kind === 'shelf' ? after.uuid : dayOf(after.startTime);
  const last = groups.findLastIndex(({ value }) => value <= at);
  return sort.isDescending ? groups.slice(0, last + 1).toReversed() : groups.slice(Math.max(last, 0));
}

function readGroups(
  db: Database,
  question: Question,
  selection: Selection,
  words: string,
  groups: readonly Facet[],
): Promise<Place[]> {
  const query = new EntryQuery({ firm: selection.firm, span: null });
  const tags = query.value(
    groups.map(({ id }) => tagged([id])),
    'text[]',
  );
  const { from, place } = source(query, question, selection, words, 'each.tag::tsquery');
  // Group after group is read until there is enough, so what comes out is in the order of the groups.
  const text = `SELECT ${PLACE} FROM unnest(${tags}) WITH ORDINALITY AS each (tag, place) CROSS JOIN LATERAL (
      SELECT * FROM (SELECT ${place} FROM ${from} OFFSET 0) AS c
      ORDER BY ${orderOf(question.sort, 'c')}) AS c
    ${pageOf(query, question)}`;
  return run(db, text, query, { sorting: true, bitmaps: true });
}

/** Documents that match and have the words, with their places: of a group, which is an expression, or of the whole firm. */
function source(
  query: EntryQuery,
  { sort, after }: Question,
  selection: Selection,
  words: string,
  group: string | null,
): { from: string; place: string } {
  const looked = selection.ways.filter(
    ({ column, keys, size }) => TAGGED.has(column) && keys.length <= MANY_TAGS && size < selection.total * NARROW,
  );
  const kept = selection.ways.filter((way) => !looked.includes(way));
  const conditions = conditionsOf(query, { ...selection, ways: kept }, null);
  const withEntries = conditions.length > 0 || sort.by !== 'created_at';
  const behind = query.behind(sort, after);
  const tags = looked.map((way: Way) => query.value(tagged(way.keys), 'tsquery'));
  // The ids of facets are of one firm, so any of them stands for it; its own list is the longest.
  if (group !== null || tags.length === 0) tags.unshift(group ?? query.value(tagged([selection.firm]), 'tsquery'));
  const from = query.texts(
    { withEntries },
    // Each by itself, and not in one query: the index then leaps from one list to the next, and ends with the first.
    ...[query.value(words, 'tsquery'), ...tags].map((wanted) => `t.words @@ ${wanted}`),
    ...conditions,
    behind === null ? null : onlyChecked(withEntries ? behind : behind.replace('c.uuid', 't.uuid')),
  );
  const place = withEntries ? 'c.uuid, c.start_time, c.score' : 't.uuid, to_timestamp(0) AS start_time, 0 AS score';
  return { from, place };
}

function pageOf(query: EntryQuery, { offset, limit }: Question): string {
  return `LIMIT ${query.value(limit, 'int')} OFFSET ${query.value(offset, 'int')}`;
}

function tagged(ids: readonly number[]): string {
  return ids.map((id) => `'${tagOfFacet(id)}'`).join(' | ');
}
