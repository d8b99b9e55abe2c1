import type { CallRow } from '../calls/call-row.ts';
import type { Transcripts } from '../calls/transcript-store.ts';
import { configurationFor, queryPhrases, spokenWords } from '../search/tokenizer.ts';
import type { Listing } from './listing-store.ts';

/** Where words of a search occur: characters are UTF-16 units, the end is exclusive. */
export interface Match {
  readonly utterance: number;
  readonly start_char: number;
  readonly end_char: number;
}

const MATCHES_PER_CALL = 3;

/**
 * The first places in each call where a word or a phrase of the search occurs, in any form that the search finds. Words
 * that the search excludes have none. One transcript is in memory at a time.
 */
export async function findMatches(
  deps: { readonly listing: Listing; readonly transcripts: Transcripts },
  firmUuid: string,
  q: string,
  calls: readonly Pick<CallRow, 'uuid' | 'language'>[],
): Promise<Map<string, Match[]>> {
  const found = new Map<string, Match[]>();
  for (const { uuid, language } of calls) {
    const configuration = configurationFor(language);
    const phrases = queryPhrases(q, configuration);
    const transcript = (await deps.transcripts.find(firmUuid, uuid)) ?? [];
    const utterances = transcript.map(({ text }) => spokenWords(text, configuration));
    // A stem begins with the letter of its words, so few words have to be stemmed.
    const initials = new Set(phrases.flat().map(initialOf));
    const candidates = new Set(phrases.flat());
    for (const { word } of utterances.flat()) if (initials.has(initialOf(word))) candidates.add(word);
    const stems = await deps.listing.stems(configuration, [...candidates]);
    const wanted = phrases.map((phrase) => phrase.map((word) => stems.get(word) ?? word));
    found.set(uuid, matchesIn(utterances, wanted, stems));
  }
  return found;
}

function matchesIn(
  utterances: readonly ReturnType<typeof spokenWords>[],
  wanted: readonly (readonly string[])[],
  stems: ReadonlyMap<string, string>,
): Match[] {
  const matches: Match[] = [];
  for (const [utterance, words] of utterances.entries()) {
    for (let at = 0; at < words.length; at += 1) {
      const phrase = wanted.find((each) =>
        each.every((stem, offset) => stems.get(words[at + offset]?.word ?? '') === stem),
      );
      if (phrase === undefined) continue;
      const last = words[at + phrase.length - 1]!;
      matches.push({ utterance, start_char: words[at]!.start, end_char: last.end });
      if (matches.length === MATCHES_PER_CALL) return matches;
      at += phrase.length - 1;
    }
  }
  return matches;
}

function initialOf(word: string): string {
  return [...word.normalize('NFD').toLowerCase()][0] ?? '';
}
