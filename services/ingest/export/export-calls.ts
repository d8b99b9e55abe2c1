import { isFirmRemoved } from '@call-analysis/call-processing';
import type { ReviewedAnalysis, Utterance } from '@call-analysis/events';
import { Fault, notFound, unavailable } from '@call-analysis/fault';
import { type Actor, auditEntry, type Publishing } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import type { Transcripts } from '../calls/transcript-store.ts';
import { type CallFilter, filterToStore, type Position, type Sort } from '../listing/call-filter.ts';
import { listCalls } from '../listing/list-calls.ts';
import type { Listing } from '../listing/listing-store.ts';
import type { Words } from '../search/word-store.ts';
import { unknownZone } from '../statistics/read-statistics.ts';
import type { StatisticStore } from '../statistics/statistic-store.ts';
import { type Format, type Row, TIMES, columnsOf } from './columns.ts';
import type { Exports } from './export-store.ts';
import { parquet } from './formats/parquet.ts';
import { csv, ndjson } from './formats/text.ts';
import { MAX_XLSX_ROWS, xlsx } from './formats/xlsx.ts';

export interface ExportDeps extends Publishing {
  readonly exports: Exports;
  readonly listing: Listing;
  readonly words: Words;
  readonly statistics: StatisticStore;
  readonly transcripts: Transcripts;
  readonly firms: Firms;
}

export const formats = { csv, xlsx, ndjson, parquet } as const satisfies Record<string, Format>;

/** The calls of a filter, or named calls. */
export type Exported = { readonly filter: CallFilter; readonly sort: Sort } | { readonly uuids: readonly string[] };

export interface Export {
  readonly format: keyof typeof formats;
  readonly calls: Exported;
  /** A column of answers for each; empty without a scorecard. */
  readonly questions: readonly { readonly uuid: string; readonly text: string }[];
  readonly scorecardUuid: string | null;
  readonly hasTranscripts: boolean;
  /** IANA name; null for the firm's. Times are also written in it. */
  readonly timeZone: string | null;
  /** Names for columns in place of the API's. */
  readonly headings: Readonly<Record<string, string>>;
}

const ROWS_PER_PAGE = 1_000;
/** A transcript has up to 4 MiB. */
const ROWS_PER_PAGE_WITH_TEXT = 20;
/** Well below the largest message between services. */
const PIECE_BYTES = 512 * 1024;

/**
 * A file with all calls that match (docs/api.md, "Exports"), piece by piece. Faults before the first piece:
 * VALIDATION_ERROR, TOO_MANY_ROWS, UNAVAILABLE. The audit log has it.
 */
export async function* exportCalls(
  deps: ExportDeps,
  actor: Actor,
  { format, calls, questions, scorecardUuid, hasTranscripts, headings, timeZone }: Export,
): AsyncGenerator<Buffer> {
  const pageSize = hasTranscripts ? ROWS_PER_PAGE_WITH_TEXT : ROWS_PER_PAGE;
  const { db, bus, firms } = deps;
  const { firmUuid } = actor;
  const zone = timeZone ?? (await firms.find(firmUuid)).timeZone;
  if (!(await deps.statistics.knowsZone(zone))) throw unknownZone();
  const localTimes = localTimesIn(zone);
  if (format === 'xlsx' && 'filter' in calls) await requireRoom(deps, { firmUuid, ...calls, pageSize });
  await db.transaction((tx) => bus.publish(tx, [auditEntry('ingest', actor, 'calls.exported', firmUuid)]));
  const columns = columnsOf(questions, hasTranscripts, headings, zone);
  for await (const piece of formats[format](columns, pagesOf())) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) yield piece.subarray(at, at + PIECE_BYTES);
  }

  async function* pagesOf(): AsyncGenerator<readonly Row[]> {
    let written = 0;
    for await (const rows of walkRows(deps, firmUuid, calls, pageSize)) {
      // The calls vanish; a file that ends there would seem complete.
      if (await isFirmRemoved(db, firmUuid)) throw notFound('firm');
      written += rows.length;
      if (format === 'xlsx' && written > MAX_XLSX_ROWS) throw tooManyRows();
      yield await completed(rows);
    }
    if (await isFirmRemoved(db, firmUuid)) throw notFound('firm');
  }

  /** The rows with the answers and transcripts of their calls. */
  async function completed(rows: readonly Row[]): Promise<readonly Row[]> {
    if (scorecardUuid === null && !hasTranscripts) return rows.map((row) => [...row, ...localTimes(row)]);
    const uuids = rows.map((row) => row[0]!);
    const [analyses, transcripts] = await Promise.all([
      scorecardUuid === null ? null : deps.exports.analyses(firmUuid, uuids),
      hasTranscripts ? deps.transcripts.ofCalls(firmUuid, uuids) : null,
    ]);
    return rows.map((row) => {
      const analysis = analyses?.get(row[0]!);
      const answers = analysis?.scorecard.uuid === scorecardUuid ? answersIn(analysis!) : null;
      const said = transcripts === null ? [] : [textOf(transcripts.get(row[0]!))];
      return [...row, ...localTimes(row), ...questions.map(({ uuid }) => answers?.get(uuid) ?? null), ...said];
    });
  }
}

/** Reads the times of a row in a time zone: `2026-10-02 13:00:00`. */
function localTimesIn(timeZone: string): (row: Row) => (string | null)[] {
  if (timeZone === 'UTC') return () => [];
  // In Sweden times are written as in ISO 8601.
  const { format } = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (row) =>
    TIMES.map((at) => {
      const time = row[at] ?? null;
      return time === null ? null : format(new Date(time));
    });
}

function answersIn({ sections }: ReviewedAnalysis): Map<string, string | null> {
  return new Map(sections.flatMap(({ questions }) => questions.map(({ uuid, answer }) => [uuid, answer] as const)));
}

/** A line for each utterance. */
function textOf(utterances: readonly Utterance[] | undefined): string | null {
  return utterances?.map(({ role, text }) => `${role}: ${text}`).join('\n') ?? null;
}

/** Counts one by one where the count of the listing is an estimate that may be too low. */
async function requireRoom(deps: ExportDeps, walk: Walk): Promise<void> {
  const { firmUuid, filter, sort } = walk;
  const { count, isEstimate } = await listCalls(deps, firmUuid, { filter, sort, page: 1, cursor: null, size: 1 });
  if (!isEstimate && count > MAX_XLSX_ROWS) throw tooManyRows();
  if (!isEstimate || count < MAX_XLSX_ROWS / 2) return;
  let counted = 0;
  for await (const uuids of walkPositions(deps, { ...walk, pageSize: 10_000 })) {
    counted += uuids.length;
    if (counted > MAX_XLSX_ROWS) throw tooManyRows();
  }
}

function tooManyRows(): Fault {
  const most = MAX_XLSX_ROWS.toLocaleString('en');
  const message = `An XLSX file holds at most ${most} calls. Export fewer with a filter, or another format.`;
  return new Fault('invalid', 'TOO_MANY_ROWS', message);
}

/** How long the words of the firm's calls may take to be indexed. */
const CATCH_UP_MS = 20_000;

interface Walk {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  readonly sort: Sort;
  readonly pageSize: number;
}

/**
 * The uuids of all calls that match when the walk begins, in the order of the sort, page by page at constant cost. Faults:
 * VALIDATION_ERROR; UNAVAILABLE when words are searched and those of all calls are not indexed in time.
 */
async function* walkPositions(deps: ExportDeps, { firmUuid, filter, sort, pageSize }: Walk): AsyncGenerator<string[]> {
  if (filter.q !== undefined && !(await deps.words.catchUp(firmUuid, CATCH_UP_MS)))
    throw unavailable('The index of words');
  const words = await deps.words.require(firmUuid, filter.q);
  for (let after: Position | null = null; ;) {
    const query = { firmUuid, filter, words, sort, after, offset: 0, limit: pageSize };
    const positions: readonly Position[] = await deps.listing.positions(query);
    if (positions.length > 0) yield positions.map(({ uuid }) => uuid);
    if (positions.length < pageSize) return;
    after = positions.at(-1)!;
  }
}

/** The rows of all calls that are asked for, page by page at constant cost. */
async function* walkRows(
  deps: ExportDeps,
  firmUuid: string,
  calls: Exported,
  pageSize: number,
): AsyncGenerator<readonly Row[]> {
  const isFiltered = 'uuids' in calls || Object.keys(filterToStore(calls.filter)).length > 0;
  if (!isFiltered && calls.sort.by === 'created_at') {
    for (let after: string | null = null; ;) {
      const rows: Row[] = await deps.exports.inOrder(firmUuid, calls.sort.isDescending, after, pageSize);
      yield rows;
      if (rows.length < pageSize) return;
      after = rows.at(-1)![0]!;
    }
  }
  const found =
    'uuids' in calls ? pagesOfNamed(calls.uuids, pageSize) : walkPositions(deps, { firmUuid, ...calls, pageSize });
  for await (const uuids of found) yield await rowsOf(deps, firmUuid, uuids);
}

/** The uuids of calls that are named, each once. */
function* pagesOfNamed(uuids: readonly string[], pageSize: number): Generator<string[]> {
  const each = [...new Set(uuids)];
  for (let at = 0; at < each.length; at += pageSize) yield each.slice(at, at + pageSize);
}

/** In the order of the uuids. Calls that the firm does not have, or that were erased meanwhile, are left out. */
async function rowsOf({ exports }: ExportDeps, firmUuid: string, uuids: readonly string[]): Promise<Row[]> {
  const rows = new Map((await exports.byUuid(firmUuid, uuids)).map((row) => [row[0]!, row]));
  return uuids.flatMap((uuid) => (rows.has(uuid) ? [rows.get(uuid)!] : []));
}
