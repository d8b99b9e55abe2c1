import { invalidFields, unavailable } from '@call-analysis/fault';
import { filterToStore } from '../listing/call-filter.ts';
import type { CallFilter, Position, Sort, Store } from '../store/index.ts';
import type { Row } from './columns.ts';

/** How long the words of the firm's calls may take to be indexed. */
const CATCH_UP_MS = 20_000;

export interface Walk {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  readonly sort: Sort;
  readonly pageSize: number;
}

/**
 * All calls that match when the walk begins, page by page at constant cost. A call that is erased meanwhile is left out.
 * Faults: VALIDATION_ERROR; UNAVAILABLE when words are searched and those of all calls are not indexed in time.
 */
export async function* walkCalls(store: Store, walk: Walk): AsyncGenerator<Row[]> {
  const { firmUuid, sort, pageSize } = walk;
  if (isUnfiltered(walk)) {
    for (let after: string | null = null; ;) {
      const rows: Row[] = await store.exports.inOrder(firmUuid, sort.isDescending, after, pageSize);
      if (rows.length > 0) yield rows;
      if (rows.length < pageSize) return;
      after = rows.at(-1)![0]!;
    }
  }
  for await (const uuids of walkPositions(store, walk)) {
    const rows = new Map((await store.exports.byUuid(firmUuid, uuids)).map((row) => [row[0]!, row]));
    const page = uuids.flatMap((uuid) => (rows.has(uuid) ? [rows.get(uuid)!] : []));
    if (page.length > 0) yield page;
  }
}

/** Calls that are named, in that order. Those that the firm does not have are left out. */
export async function* walkSelected(
  store: Store,
  firmUuid: string,
  uuids: readonly string[],
  pageSize: number,
): AsyncGenerator<Row[]> {
  const each = [...new Set(uuids)];
  for (let at = 0; at < each.length; at += pageSize) {
    const page = each.slice(at, at + pageSize);
    const rows = new Map((await store.exports.byUuid(firmUuid, page)).map((row) => [row[0]!, row]));
    if (rows.size > 0) yield page.flatMap((uuid) => (rows.has(uuid) ? [rows.get(uuid)!] : []));
  }
}

/** The uuids of the calls that match, in the order of the sort. */
export async function* walkPositions(
  store: Store,
  { firmUuid, filter, sort, pageSize }: Walk,
): AsyncGenerator<string[]> {
  if (filter.q !== undefined && !(await store.words.catchUp(firmUuid, CATCH_UP_MS)))
    throw unavailable('The index of words');
  const words = filter.q === undefined ? null : await store.words.parse(firmUuid, filter.q);
  if (filter.q !== undefined && words === null) {
    throw invalidFields([{ field: 'q', code: 'INVALID', message: 'must have a word in it' }]);
  }
  for (let after: Position | null = null; ;) {
    const query = { firmUuid, filter, words, sort, after, offset: 0, limit: pageSize };
    const positions: readonly Position[] = await store.listing.positions(query);
    if (positions.length > 0) yield positions.map(({ uuid }) => uuid);
    if (positions.length < pageSize) return;
    after = positions.at(-1)!;
  }
}

function isUnfiltered({ filter, sort }: Pick<Walk, 'filter' | 'sort'>): boolean {
  return sort.by === 'created_at' && Object.keys(filterToStore(filter)).length === 0;
}
