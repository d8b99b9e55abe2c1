import { unavailable } from '@call-analysis/fault';
import { type CallFilter, filterToStore, type Position, type Sort } from '../listing/call-filter.ts';
import type { Listing } from '../listing/listing-store.ts';
import type { Words } from '../search/word-store.ts';
import type { Row } from './columns.ts';
import type { Exports } from './export-store.ts';

export interface WalkDeps {
  readonly exports: Exports;
  readonly listing: Listing;
  readonly words: Words;
}

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
export async function* walkCalls(deps: WalkDeps, walk: Walk): AsyncGenerator<Row[]> {
  const { firmUuid, sort, pageSize } = walk;
  if (isUnfiltered(walk)) {
    for (let after: string | null = null; ;) {
      const rows: Row[] = await deps.exports.inOrder(firmUuid, sort.isDescending, after, pageSize);
      if (rows.length > 0) yield rows;
      if (rows.length < pageSize) return;
      after = rows.at(-1)![0]!;
    }
  }
  for await (const uuids of walkPositions(deps, walk)) {
    const page = await rowsOf(deps, firmUuid, uuids);
    if (page.length > 0) yield page;
  }
}

/** Calls that are named, in that order. Those that the firm does not have are left out. */
export async function* walkSelected(
  deps: WalkDeps,
  firmUuid: string,
  uuids: readonly string[],
  pageSize: number,
): AsyncGenerator<Row[]> {
  const each = [...new Set(uuids)];
  for (let at = 0; at < each.length; at += pageSize) {
    const page = await rowsOf(deps, firmUuid, each.slice(at, at + pageSize));
    if (page.length > 0) yield page;
  }
}

/** In the order of the uuids. */
async function rowsOf({ exports }: WalkDeps, firmUuid: string, uuids: readonly string[]): Promise<Row[]> {
  const rows = new Map((await exports.byUuid(firmUuid, uuids)).map((row) => [row[0]!, row]));
  return uuids.flatMap((uuid) => (rows.has(uuid) ? [rows.get(uuid)!] : []));
}

/** The uuids of the calls that match, in the order of the sort. */
export async function* walkPositions(
  deps: WalkDeps,
  { firmUuid, filter, sort, pageSize }: Walk,
): AsyncGenerator<string[]> {
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

function isUnfiltered({ filter, sort }: Pick<Walk, 'filter' | 'sort'>): boolean {
  return sort.by === 'created_at' && Object.keys(filterToStore(filter)).length === 0;
}
