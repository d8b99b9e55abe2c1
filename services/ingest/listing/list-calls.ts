import { type FieldFault, invalidFields, unavailable } from '@call-analysis/fault';
import {
  type CallFilter,
  type CallQuery,
  type CallRow,
  type Count,
  matchesFilter,
  needsIndex,
  type Page,
  type Position,
  type Sort,
  type Store,
} from '../store/index.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { findMatches, type Match } from './find-matches.ts';

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
}

/** How long listing waits until the firm's pending changes are indexed. */
const CATCH_UP_MS = 1_500;
/** A call that was accepted or changed so long ago is in every list, which waits for it, or there is no list. */
const STALE_MS = 4_000;
const STALE_WAIT_MS = 3_000;
/**
 * How much longer a list waits that the catalogue itself does not answer. With the rest, within a request's deadline.
 */
const LONGER_WAIT_MS = 3_000;
/** How many calls are read from the catalogue itself when the index is not up to date: most pages are filled by few. */
const CATALOGUE_READS = 500;
/** The largest offset that pages reach. Beyond it clients use the cursor. */
const MAX_OFFSET = 1_000_000;

const NO_CALLS: ListedCalls = { items: [], count: 0, isEstimate: false, nextCursor: null, matches: new Map() };

/**
 * A page of a firm's calls (docs/api.md, "Calls"). A client that follows the cursor to the end sees every call that
 * matches throughout and keeps its sort key exactly once, even if others are added, changed or erased in the meantime.
 * Faults VALIDATION_ERROR; UNAVAILABLE when the index lacks changes that are older than a few seconds.
 */
export async function listCalls(store: Store, firmUuid: string, request: ListCallsRequest): Promise<ListedCalls> {
  const { filter, sort, size } = request;
  const { words, after } = await parse(store, firmUuid, request);
  const offset = after === null ? (request.page - 1) * size : 0;
  const isTooDeep = offset > MAX_OFFSET;
  // One call more than the page shows whether there is a next page.
  const query: CallQuery = { firmUuid, filter, sort, after, offset: isTooDeep ? 0 : offset, limit: size + 1 };
  if (filter.partnerCallId !== null) return byPartnerCallId(store, { ...query, offset }, words);

  const { positions, count } = await (isUnfiltered(query)
    ? fromCatalogue(store, query)
    : fromIndex(store, query, words));
  if (isTooDeep) {
    if (count.count <= offset && !count.isEstimate) return { ...NO_CALLS, ...count };
    const message = `reaches no further than ${MAX_OFFSET} calls; go on with next_cursor`;
    throw invalidFields([{ field: 'page', code: 'INVALID', message }]);
  }
  const shown = positions.slice(0, size);
  const rows = await store.listing.read(
    firmUuid,
    shown.map(({ uuid }) => uuid),
  );
  const last = positions.length > size ? shown.at(-1) : undefined;
  // A call that has changed since it was indexed is shown as it is now, or not at all.
  const items = shown.flatMap(({ uuid }) => rows.get(uuid) ?? []).filter((row) => matchesFilter(filter, row));
  return {
    items,
    matches: await matchesIn(store, firmUuid, filter, items),
    count: count.count,
    isEstimate: count.isEstimate,
    nextCursor:
      last === undefined ? null : sealCursor(await store.listing.cursorKey(), { firmUuid, filter, sort }, last),
  };
}

async function matchesIn(store: Store, firmUuid: string, { q }: CallFilter, items: readonly CallRow[]) {
  return q === null ? new Map<string, Match[]>() : findMatches(store, firmUuid, q, items);
}

/** Parses the words and the cursor, and reports the faults of both together. */
async function parse(
  store: Store,
  firmUuid: string,
  { filter, sort, cursor }: ListCallsRequest,
): Promise<{ words: string | null; after: Position | null }> {
  const faults: FieldFault[] = [];
  const words = filter.q === null ? null : await store.search.parseWords(filter.q);
  if (filter.q !== null && words === null)
    faults.push({ field: 'q', code: 'INVALID', message: 'must have a word in it' });
  const after =
    cursor === null ? null : openCursor(await store.listing.cursorKey(), { firmUuid, filter, sort }, cursor);
  if (cursor !== null && after === null) {
    const message = 'is not a next_cursor of a list with the same filters and the same sort';
    faults.push({ field: 'cursor', code: 'INVALID', message });
  }
  if (faults.length > 0) throw invalidFields(faults);
  return { words, after };
}

function isUnfiltered({ filter, sort }: CallQuery): boolean {
  return sort.by === 'created_at' && Object.values(filter).every((value) => value === null || value.length === 0);
}

/** Without a filter, the primary key of the catalogue gives the order, and every committed call is included. */
async function fromCatalogue(store: Store, query: CallQuery): Promise<Page> {
  const [positions, count] = await Promise.all([store.listing.inOrder(query), store.search.count(query.firmUuid)]);
  return { positions, count: { count, isEstimate: false } };
}

/**
 * Uses the index once it contains the firm's pending changes. When that would take too long, as while a large upload is
 * processed, it uses the index once it contains those that are older than a few seconds; the newest calls are read from
 * the catalogue itself, and the count is an estimate: what the index says, corrected by a sample of the pending
 * changes.
 */
async function fromIndex(store: Store, query: CallQuery, words: string | null): Promise<Page> {
  const { firmUuid, sort, filter } = query;
  const isWaiting = words !== null || !(await store.search.isFarBehind(firmUuid));
  if (isWaiting && (await store.search.catchUp(firmUuid, { words: words !== null, withinMs: CATCH_UP_MS }))) {
    return store.search.find(query, words);
  }
  const isFresh = await store.search.refresh(firmUuid, { olderThanMs: STALE_MS, withinMs: STALE_WAIT_MS });
  const isInCatalogue = words === null && sort.by === 'created_at' && !needsIndex(filter);
  const fromCatalogueItself = isInCatalogue ? store.listing.inOrderMatching(query, CATALOGUE_READS) : null;
  // Words follow at a pace of their own, and a list by them promises no time.
  if (!isFresh && words === null && (await fromCatalogueItself) === null)
    await requireFresh(store, firmUuid, LONGER_WAIT_MS);
  const [{ positions, count }, newest, difference] = await Promise.all([
    store.search.find(query, words),
    fromCatalogueItself,
    words === null ? store.search.countPending(firmUuid, filter) : 0,
  ]);
  const shown = newest ?? positions;
  const known = shown.length === 0 ? 0 : query.offset + shown.length;
  const corrected = Math.max(known, Math.round(count.count + difference), 0);
  return { positions: shown, count: { count: corrected, isEstimate: true } };
}

/** Fault UNAVAILABLE: a list that silently lacks calls is worse than none. */
async function requireFresh(store: Store, firmUuid: string, withinMs: number): Promise<void> {
  if (!(await store.search.refresh(firmUuid, { olderThanMs: STALE_MS, withinMs })))
    throw unavailable('The index of calls');
}

/** A partner_call_id is unique in a firm, so at most one call matches. */
async function byPartnerCallId(
  store: Store,
  { firmUuid, filter, after, offset }: CallQuery,
  words: string | null,
): Promise<ListedCalls> {
  const row = await store.listing.findByPartnerCallId(firmUuid, filter.partnerCallId!);
  if (row === null || !matchesFilter(filter, row)) return NO_CALLS;
  if (needsIndex(filter)) {
    const isCurrent = await store.search.catchUp(firmUuid, { words: false, withinMs: CATCH_UP_MS });
    if (!isCurrent) await requireFresh(store, firmUuid, STALE_WAIT_MS + LONGER_WAIT_MS);
    if (!(await store.search.matches(firmUuid, row.uuid, filter))) return NO_CALLS;
  }
  if (words !== null) {
    await store.search.catchUp(firmUuid, { words: true, withinMs: CATCH_UP_MS });
    if (!(await store.search.hasWords(firmUuid, row.uuid, words))) return NO_CALLS;
  }
  const isShown = offset === 0 && after === null;
  const items = isShown ? [row] : [];
  const matches = await matchesIn(store, firmUuid, filter, items);
  return { items, count: 1, isEstimate: false, nextCursor: null, matches };
}
