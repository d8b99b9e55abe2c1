import { editDistance } from '@call-analysis/fault/nearest-name';

/** Letters without case and accents: "Lucía" is found by "lucia". */
function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
}

/**
 * The items whose name contains what was typed, those that begin with it first; where there is none, those that are spelled
 * nearly so.
 */
export function nearest<Item>(typed: string, items: readonly Item[], nameOf: (item: Item) => string): readonly Item[] {
  const wanted = plain(typed);
  if (wanted === '') return items;
  const named = items.map((item) => ({ item, name: plain(nameOf(item)) }));
  const containing = named.filter(({ name }) => name.includes(wanted));
  if (containing.length > 0) {
    const starts = ({ name }: { name: string }) => (name.startsWith(wanted) ? 0 : 1);
    return containing.toSorted((a, b) => starts(a) - starts(b)).map(({ item }) => item);
  }
  // A typing error in a short word makes another word.
  const allowed = wanted.length < 4 ? 0 : wanted.length < 8 ? 1 : 2;
  return named
    .map(({ item, name }) => ({
      item,
      distance: Math.min(...[name, ...name.split(/\s+/u)].map((each) => editDistance(wanted, each))),
    }))
    .filter(({ distance }) => distance <= allowed)
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ item }) => item);
}

/** Parts of a search whose spelling can be told to be wrong. */
const WORD = /[\p{L}\p{M}'‘’ʻʼ]{4,}/gu;
const MOST_SPELLINGS = 3;

/** The search with words near its first unknown word in place of that word; none where all words are known. */
export function respelled(q: string, known: readonly string[]): readonly string[] {
  const all = new Set(known);
  for (const { 0: typed, index } of q.matchAll(WORD)) {
    if (all.has(typed.toLowerCase())) continue;
    const near = nearest(typed, known, (word) => word).slice(0, MOST_SPELLINGS);
    if (near.length > 0) return near.map((word) => q.slice(0, index) + word + q.slice(index + typed.length));
  }
  return [];
}
