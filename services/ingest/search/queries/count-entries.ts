import type { Database } from '@call-analysis/postgres';
import { CLEARLY, type Count, COUNTED, READ_THROUGH } from '../call-query.ts';
import { conditionsOf, type Selection, spanOf, type Way } from './resolve-filter.ts';
import { EntryQuery, run, type Span } from './entry-query.ts';

/** Entries that a count is first estimated by. */
const SAMPLE = 5_000;
/** Where they are taken from: calls that came together may be alike. */
const PLACES = 16;

/** How many calls match: exactly where the facets know it or when it is few, else what a sample lets expect. */
export async function countEntries(db: Database, selection: Selection): Promise<Count> {
  const { ways, total, span, started } = selection;
  if (ways.length === 0) return { count: total, isEstimate: false };
  const narrowest = ways.reduce((best, way) => (way.size < best.size ? way : best));
  const { size } = narrowest;
  if (ways.length === 1 && isOfWholeDays(selection)) return { count: size, isEstimate: false };
  if (size <= READ_THROUGH || (span !== null && narrowest !== started?.way)) {
    const { read, matched } = await readAll(db, selection, narrowest);
    if (read <= READ_THROUGH) return { count: matched, isEstimate: false };
  }
  const stretch = await stretchOf(db, selection, narrowest);
  const rough = await estimate(db, selection, stretch, SAMPLE);
  const count = rough > CLEARLY * COUNTED ? rough : await estimate(db, selection, stretch, READ_THROUGH);
  return { count, isEstimate: true };
}

interface Read {
  readonly read: number;
  readonly matched: number;
}

/** Reads the entries of the way until they are more than a count may cost. */
async function readAll(db: Database, selection: Selection, way: Way): Promise<Read> {
  const query = new EntryQuery(selection);
  const most = query.value(READ_THROUGH + 1, 'int');
  const from = `unnest(${query.value(way.keys, 'int[]')}) AS each (key) CROSS JOIN LATERAL (
    SELECT c.* FROM ${query.entries(`c.${way.column} = each.key`)} ORDER BY c.uuid DESC LIMIT ${most}) AS c`;
  return counted(db, query, selection, way, `SELECT c.* FROM ${from} LIMIT ${most}`);
}

/** Entries of a way, as far as they are in the selection's span. */
interface Stretch {
  readonly way: Way;
  /** How many there are, about: as if calls came evenly. */
  readonly size: number;
  /** Uuids from which on samples are taken. */
  readonly places: readonly string[];
}

async function stretchOf(db: Database, { firm, span }: Selection, way: Way): Promise<Stretch> {
  const own = (await spanOf(db, firm, way)) ?? (await spanOf(db, firm, null));
  const [first, last] = boundsOf(own ?? EMPTY);
  const [from, to] = span === null ? [first, last] : boundsOf(span);
  const begin = from > first ? from : first;
  const length = (to < last ? to : last) - begin + 1n;
  const share = length > 0n ? Number((length * 1_000_000n) / (last - first + 1n)) / 1_000_000 : 0;
  const places = Math.max(1, Math.floor(PLACES / way.keys.length));
  return {
    way,
    size: way.size * share,
    places: Array.from({ length: places }, (_, place) => hexOf(begin + (length * BigInt(place)) / BigInt(places))),
  };
}

const EMPTY: Span = { first: '0', last: '0' };

function boundsOf({ first, last }: Span): [bigint, bigint] {
  return [numberOf(first), numberOf(last)];
}

function numberOf(uuid: string): bigint {
  return BigInt(`0x${uuid.replaceAll('-', '')}`);
}

function hexOf(uuid: bigint): string {
  return uuid.toString(16).padStart(32, '0');
}

/** By about so many entries. */
async function estimate(
  db: Database,
  selection: Selection,
  { way, size, places }: Stretch,
  entries: number,
): Promise<number> {
  const query = new EntryQuery(selection);
  const ofEach = query.value(Math.ceil(entries / way.keys.length / places.length), 'int');
  const sample = `SELECT c.* FROM unnest(${query.value(way.keys, 'int[]')}) AS each (key)
    CROSS JOIN unnest(${query.value(places, 'uuid[]')}) AS place (uuid) CROSS JOIN LATERAL (
      SELECT c.* FROM ${query.entries(`c.${way.column} = each.key`, 'c.uuid >= place.uuid')} ORDER BY c.uuid LIMIT ${ofEach}) AS c`;
  const { read, matched } = await counted(db, query, selection, way, sample);
  return Math.round((matched / Math.max(read, 1)) * size);
}

async function counted(
  db: Database,
  query: EntryQuery,
  selection: Selection,
  way: Way,
  entries: string,
): Promise<Read> {
  const matching = conditionsOf(query, selection, way);
  const text = `SELECT count(*)::int AS read, (count(*) FILTER (WHERE ${['true', ...matching].join(' AND ')}))::int AS matched
    FROM (${entries}) AS c`;
  const [row] = await run<Read>(db, text, query, { sorting: true });
  return row!;
}

function isOfWholeDays({ started }: Selection): boolean {
  const isMidnight = (time: Date | null) => time === null || time.getTime() % 86_400_000 === 0;
  return started === null || (isMidnight(started.from) && isMidnight(started.to));
}
