import { invalidFields, type FieldFault } from '@call-analysis/fault';
import {
  type CallFilter,
  type CallRow,
  type Count,
  type Found,
  matches,
  type Place,
  type Question,
  type Sort,
  type Store,
} from '../store/index.ts';
import { openCursor, sealCursor } from './cursor.ts';

export interface ListCallsRequest {
  readonly filter: CallFilter;
  readonly sort: Sort;
  /** From 1; ignored with a cursor. */
  readonly page: number;
  readonly cursor: string | null;
  readonly size: number;
}

export interface ListedCalls extends Count {
  readonly items: readonly CallRow[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** How long a listing waits for the index to know what the firm has committed before. */
const CATCH_UP_MS = 1_500;
/** Calls of the catalogue that are read through in the place of an index that is behind. */
const READ_THROUGH = 20_000;
/** As far as pages go; behind that, the cursor does. */
const DEEPEST = 100_000;

const NOBODY: ListedCalls = { items: [], count: 0, isEstimate: false, nextCursor: null };

/**
 * A page of a firm's calls (api.md, section 6). A call that matches all the while that a cursor is walked, and whose
 * place in the sort stays the same, is met exactly once, whatever comes, changes or is erased beside it. Faults
 * VALIDATION_ERROR.
 */
export async function listCalls(store: Store, firmUuid: string, request: ListCallsRequest): Promise<ListedCalls> {
  const { filter, sort, size } = request;
  const { words, after } = await checked(store, firmUuid, request);
  const offset = after === null ? (request.page - 1) * size : 0;
  const isTooDeep = offset > DEEPEST;
  // One more than is shown tells whether there is more.
  const question: Question = { firmUuid, filter, sort, after, offset: isTooDeep ? 0 : offset, limit: size + 1 };
  if (filter.partnerCallId !== null) return theOne(store, { ...question, offset }, words);

  const { places, count } = await (everythingByTime(question)
    ? wholeCatalogue(store, question)
    : indexed(store, question, words));
  if (isTooDeep) {
    if (count.count <= offset && !count.isEstimate) return { ...NOBODY, ...count };
    const message = `reaches no further than ${DEEPEST} calls; go on with next_cursor`;
    throw invalidFields([{ field: 'page', code: 'INVALID', message }]);
  }
  const shown = places.slice(0, size);
  const rows = await store.listing.some(
    firmUuid,
    shown.map(({ uuid }) => uuid),
  );
  const last = places.length > size ? shown.at(-1) : undefined;
  return {
    // A call that has changed since it was found is shown as it is, or not at all.
    items: shown.flatMap(({ uuid }) => rows.get(uuid) ?? []).filter((row) => matches(filter, row)),
    count: count.count,
    isEstimate: count.isEstimate,
    nextCursor:
      last === undefined ? null : sealCursor(await store.listing.cursorKey(), { firmUuid, filter, sort }, last),
  };
}

/** All that only the catalogue can tell of a request's faults, together. */
async function checked(
  store: Store,
  firmUuid: string,
  { filter, sort, cursor }: ListCallsRequest,
): Promise<{ words: string | null; after: Place | null }> {
  const faults: FieldFault[] = [];
  const words = filter.q === null ? null : await store.search.wordsOf(filter.q);
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

function everythingByTime({ filter, sort }: Question): boolean {
  return sort.by === 'created_at' && Object.values(filter).every((value) => value === null || value.length === 0);
}

/** Without a filter the catalogue's own order serves, and knows every call at once. */
async function wholeCatalogue(store: Store, question: Question): Promise<Found> {
  const [places, count] = await Promise.all([store.listing.inOrder(question), store.search.count(question.firmUuid)]);
  return { places, count: { count, isEstimate: false } };
}

/**
 * By the index, once it knows what the firm has committed. When that takes too long, as after a large upload, the
 * newest calls are looked through in the catalogue itself, and how many there are is not known for sure.
 */
async function indexed(store: Store, question: Question, words: string | null): Promise<Found> {
  const { firmUuid, sort } = question;
  if (await store.search.catchUp(firmUuid, { words: words !== null, withinMs: CATCH_UP_MS })) {
    return store.search.find(question, words);
  }
  const { places, count } = await store.search.find(question, words);
  const newest =
    words === null && sort.by === 'created_at' ? await store.listing.inOrderMatching(question, READ_THROUGH) : null;
  const known = Math.max(count.count, newest === null ? 0 : question.offset + newest.length);
  return { places: newest ?? places, count: { count: known, isEstimate: true } };
}

/** An id of the partner's names one call at most. */
async function theOne(
  store: Store,
  { firmUuid, filter, after, offset }: Question,
  words: string | null,
): Promise<ListedCalls> {
  const row = await store.listing.ofPartner(firmUuid, filter.partnerCallId!);
  if (row === null || !matches(filter, row)) return NOBODY;
  if (words !== null) {
    await store.search.catchUp(firmUuid, { words: true, withinMs: CATCH_UP_MS });
    if (!(await store.search.hasWords(firmUuid, row.uuid, words))) return NOBODY;
  }
  const isShown = offset === 0 && after === null;
  return { items: isShown ? [row] : [], count: 1, isEstimate: false, nextCursor: null };
}
