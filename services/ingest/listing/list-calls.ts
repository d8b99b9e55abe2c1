import type { SpokenWords } from '@call-analysis/api/statistics';
import type { Utterance } from '@call-analysis/events';
import { type FieldFault, invalidFields } from '@call-analysis/fault';
import type { CallRow } from '../calls/call-row.ts';
import type { Transcripts } from '../calls/transcript-store.ts';
import { configurationFor, queryPhrases, spokenWords } from '../search/tokenizer.ts';
import type { Words } from '../search/word-store.ts';
import type { CallFilter, Count, Position, Sort } from './call-filter.ts';
import { openCursor, sealCursor } from './cursor.ts';
import type { FilteredCalls } from './filter-sql.ts';
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
    if (count.count <= offset && !count.isEstimate)
      return { ...count, items: [], nextCursor: null, matches: new Map(), wordsUntil };
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

/** Where words of a search occur: characters are UTF-16 units, the end is exclusive. */
interface Match {
  readonly utterance: number;
  readonly start_char: number;
  readonly end_char: number;
}

const MATCHES_PER_CALL = 3;
/**
 * The first places in each call where a word or a phrase of the search occurs, in any form that the search finds. Words
 * that the search excludes have none.
 */
async function findMatches(
  { listing, transcripts }: Pick<ListDeps, 'listing' | 'transcripts'>,
  firmUuid: string,
  q: string,
  calls: readonly Pick<CallRow, 'uuid' | 'language'>[],
): Promise<Map<string, Match[]>> {
  const found = new Map<string, Match[]>();
  for await (const some of transcribed(transcripts, firmUuid, calls)) {
    for (const [configuration, alike] of Map.groupBy(some, ({ call }) => configurationFor(call.language))) {
      const phrases = queryPhrases(q, configuration);
      const spoken = alike.map(({ call, utterances }) => ({
        uuid: call.uuid,
        utterances: utterances.map(({ text }) => spokenWords(text, configuration)),
      }));
      // A stem begins with the letter of its words, so few words have to be stemmed.
      const initials = new Set(phrases.flat().map(initialOf));
      const candidates = new Set(phrases.flat());
      const words = spoken.flatMap(({ utterances }) => utterances.flat());
      for (const { word } of words) if (initials.has(initialOf(word))) candidates.add(word);
      const stems = await listing.stems(configuration, [...candidates]);
      const wanted = phrases.map((phrase) => phrase.map((word) => stems.get(word) ?? word));
      for (const { uuid, utterances } of spoken) found.set(uuid, matchesIn(utterances, wanted, stems));
    }
  }
  return found;
}

const READ_AT_ONCE = 10;

/** The calls with what was said in them, in order. Few transcripts are in memory at a time. */
async function* transcribed<Call extends Pick<CallRow, 'uuid'>>(
  transcripts: Transcripts,
  firmUuid: string,
  calls: readonly Call[],
): AsyncGenerator<{ readonly call: Call; readonly utterances: readonly Utterance[] }[]> {
  for (let from = 0; from < calls.length; from += READ_AT_ONCE) {
    const some = calls.slice(from, from + READ_AT_ONCE);
    const uuids = some.map(({ uuid }) => uuid);
    const said = await transcripts.ofCalls(firmUuid, uuids);
    yield some.map((call) => ({ call, utterances: said.get(call.uuid) ?? [] }));
  }
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

// The texts are read and parted for each request.
const SPOKEN_IN_CALLS = 100;
const SPOKEN_CHARACTERS = 2_000_000;
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
    limit: SPOKEN_IN_CALLS,
  });
  const counts = new Map<string, number>();
  let read = 0;
  let left = SPOKEN_CHARACTERS;
  const rows = calls.map(({ row }) => row);
  for await (const some of transcribed(transcripts, firmUuid, rows)) {
    for (const { call, utterances } of some) {
      if (left <= 0) break;
      read += 1;
      for (const word of wordsIn(utterances, configurationFor(call.language)))
        counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const { text } of utterances) left -= text.length;
    }
    if (left <= 0) break;
  }
  const items = [...counts].map(([word, inCalls]) => ({ word, calls: inCalls }));
  return { calls: read, items: items.toSorted((one, other) => other.calls - one.calls).slice(0, MOST_WORDS) };
}

function wordsIn(utterances: readonly Utterance[], configuration: string): Set<string> {
  const said = new Set<string>();
  for (const { text } of utterances) {
    for (const { start, end } of spokenWords(text, configuration)) {
      const word = text.slice(start, end).toLowerCase();
      if (/\p{L}/u.test(word)) said.add(word);
    }
  }
  return said;
}
