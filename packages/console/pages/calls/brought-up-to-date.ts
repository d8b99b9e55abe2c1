interface Page<Call> {
  readonly items: readonly Call[];
  readonly next_cursor: string | null;
}

/**
 * The calls of pages that were read before, each once, with the first page as it is now. `isApart`: the two have no call in common, so
 * that there may be others between them.
 */
export function broughtUpToDate<Call extends { readonly uuid: string }>(
  fresh: Page<Call> | undefined,
  read: readonly Page<Call>[],
): { items: readonly Call[]; isApart: boolean } {
  if (fresh?.next_cursor === null) return { items: fresh.items, isApart: false };
  const newest = fresh?.items ?? [];
  const places = new Map(read[0]?.items.map(({ uuid }, place) => [uuid, place]));
  const last = newest.findLast(({ uuid }) => places.has(uuid));
  // What stood before a call that is still there, and is not there itself, was erased or no longer matches.
  const kept = last === undefined ? 0 : places.get(last.uuid)! + 1;
  const seen = new Set(newest.map(({ uuid }) => uuid));
  const others = read.flatMap(({ items }) => items).slice(kept);
  return {
    items: [...newest, ...others.filter(({ uuid }) => !seen.has(uuid) && seen.add(uuid))],
    isApart: fresh !== undefined && last === undefined,
  };
}
