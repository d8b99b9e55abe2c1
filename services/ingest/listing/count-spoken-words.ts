import type { SpokenWords } from '@call-analysis/api/statistics';
import { configurationFor, spokenWords } from '../search/tokenizer.ts';
import type { CallFilter } from './call-filter.ts';
import type { ListDeps } from './list-calls.ts';

// The texts are read and parted for each request.
const CALLS = 100;
const CHARACTERS = 2_000_000;
const MOST_WORDS = 5_000;

/**
 * The words that were said in the newest calls that match, in lower case, those of the most calls first. Numbers are not words.
 * Fault VALIDATION_ERROR for a `q` without a word.
 */
export async function countSpokenWords(
  { listing, words, transcripts }: ListDeps,
  firmUuid: string,
  filter: CallFilter,
): Promise<SpokenWords> {
  const { calls } = await listing.page({
    firmUuid,
    filter,
    words: await words.require(firmUuid, filter.q),
    sort: { by: 'start_time', isDescending: true },
    after: null,
    offset: 0,
    limit: CALLS,
  });
  const counts = new Map<string, number>();
  let read = 0;
  let left = CHARACTERS;
  for (const { row } of calls) {
    if (left <= 0) break;
    read += 1;
    const configuration = configurationFor(row.language);
    const said = new Set<string>();
    for (const { text } of (await transcripts.find(firmUuid, row.uuid)) ?? []) {
      left -= text.length;
      for (const { start, end } of spokenWords(text, configuration)) {
        const word = text.slice(start, end).toLowerCase();
        if (/\p{L}/u.test(word)) said.add(word);
      }
    }
    for (const word of said) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const items = [...counts].map(([word, inCalls]) => ({ word, calls: inCalls }));
  return { calls: read, items: items.toSorted((one, other) => other.calls - one.calls).slice(0, MOST_WORDS) };
}
