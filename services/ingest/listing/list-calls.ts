import { type FieldFault, invalidFields } from '@call-analysis/fault';
import type { CallRow } from '../calls/call-row.ts';
import type { Transcripts } from '../calls/transcript-store.ts';
import type { Words } from '../search/word-store.ts';
import type { CallFilter, Count, Position, Sort } from './call-filter.ts';
import { openCursor, sealCursor } from './cursor.ts';
import type { FilteredCalls } from './filter-sql.ts';
import { findMatches, type Match } from './find-matches.ts';
import type { Listing } from './listing-store.ts';

export interface ListDeps {
  readonly listing: Listing;
  readonly words: Words;
  readonly transcripts: Transcripts;
}

export interface ListCallsRequest {
  readonly filter: CallFilter;
  readonly sort: Sort;
  /** From 1; ignored with a cursor. */
  readonly page: number;
  readonly cursor: string | null;
  readonly size: number;
}

interface ListedCalls extends Count {
  readonly items: readonly CallRow[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** By call, the first places where the words occur. Empty without words. */
  readonly matches: ReadonlyMap<string, readonly Match[]>;
  /** The words of calls that ended before are found; null when all are, and without words. */
  readonly wordsUntil: Date | null;
}

/** The calls that pages reach. Beyond them clients use the cursor, whose cost does not grow. */
const PAGED_CALLS = 10_000;

/**
 * A page of a firm's calls (docs/api.md, "Calls"). It has every call that was accepted before. A client that follows the cursor to
 * the end sees every call that matches throughout and keeps its sort key exactly once, even if others are added, changed or erased
 * in the meantime. Fault VALIDATION_ERROR.
 */
export async function listCalls(deps: ListDeps, firmUuid: string, request: ListCallsRequest): Promise<ListedCalls> {
  const { filter, sort, size, page } = request;
  const { words, after } = await parse(deps, firmUuid, request);
  const offset = after === null ? (page - 1) * size : 0;
  const filtered = { firmUuid, filter, words };
  const wordsUntil = words === null ? null : await deps.words.until(firmUuid);
  if (offset >= PAGED_CALLS) {
    const count = await deps.listing.count(filtered);
    if (count.count <= offset) return { ...count, items: [], nextCursor: null, matches: new Map(), wordsUntil };
    const message = `reaches the first ${PAGED_CALLS} calls; go on with next_cursor as cursor`;
    throw invalidFields([{ field: 'page', code: 'INVALID', message }]);
  }
  // One call more than the page shows whether there is a next page.
  const { calls, count } = await deps.listing.page({ ...filtered, sort, after, offset, limit: size + 1 });
  const shown = calls.slice(0, size);
  const items = shown.map(({ row }) => row);
  const last = calls.length > size ? shown.at(-1)!.position : null;
  return {
    ...count,
    items,
    wordsUntil,
    matches: filter.q === undefined ? new Map<string, Match[]>() : await findMatches(deps, firmUuid, filter.q, items),
    nextCursor: last && sealCursor(await deps.listing.cursorKey(), { firmUuid, filter, sort }, last),
  };
}

/** Parses the words and the cursor, and reports the faults of both together. */
async function parse(
  deps: ListDeps,
  firmUuid: string,
  { filter, sort, cursor }: ListCallsRequest,
): Promise<{ words: FilteredCalls['words']; after: Position | null }> {
  const faults: FieldFault[] = [];
  const words = filter.q === undefined ? null : await deps.words.parse(firmUuid, filter.q);
  if (filter.q !== undefined && words === null)
    faults.push({ field: 'q', code: 'INVALID', message: 'must have a word in it' });
  const after = cursor === null ? null : openCursor(await deps.listing.cursorKey(), { firmUuid, filter, sort }, cursor);
  if (cursor !== null && after === null) {
    const message = 'is not a next_cursor of a list with the same filters and the same sort';
    faults.push({ field: 'cursor', code: 'INVALID', message });
  }
  if (faults.length > 0) throw invalidFields(faults);
  return { words, after };
}
