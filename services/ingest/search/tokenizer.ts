import type { Utterance } from '@call-analysis/events';

/**
 * The PostgreSQL text search configuration of each language. PostgreSQL has stemmers for three of our languages. Words
 * of other and unknown languages are indexed unstemmed. There are no stop words.
 */
const CONFIGURATIONS = new Map([
  ['en', 'every_english_word'],
  ['ru', 'every_russian_word'],
  ['es', 'every_spanish_word'],
]);
const UNSTEMMED = 'simple';

/** All configurations, the unstemmed one last. */
export const configurations: readonly string[] = [...CONFIGURATIONS.values(), UNSTEMMED];

export function configurationFor(language: string | null): string {
  return CONFIGURATIONS.get(language ?? '') ?? UNSTEMMED;
}

/** Tags are extra words of a document. They begin with a sign that no spoken word begins with. */
export function configurationTag(configuration: string): string {
  return `#${configuration}`;
}

export function firmTag(number: number): string {
  return `#${number}`;
}

/** A number between utterances that takes up a word position, so that no phrase matches across two utterances. */
export const UTTERANCE_BREAK = '000000000000';
const BETWEEN_UTTERANCES = ` ${UTTERANCE_BREAK} `;

/** Apostrophes inside a word of Latin Uzbek. They are removed, because they are typed in many ways or not at all. */
const APOSTROPHES = /(?<=\p{L})['‘’ʻʼ`´′](?=\p{L})/gu;
/** At the end of a word, an apostrophe is part of the letter only after these two. */
const LAST_LETTERS = /(?<=[oOgG])['‘’ʻʼ`´′](?!\p{L})/gu;

/** Soft hyphens, direction marks and variation selectors. */
const INVISIBLE = /[\p{Cf}\uFE00-\uFE0F]/gu;
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u;
/** The same by UTF-16 unit, which is many times faster. Surrogates are looked up in pairs. */
const isWordUnit = Uint8Array.from({ length: 0x1_0000 }, (_, unit) =>
  Number(WORD_CHARACTER.test(String.fromCharCode(unit))),
);
const FIRST_SURROGATE = 0xd800;
const FIRST_LOW_SURROGATE = 0xdc00;
const LAST_SURROGATE = 0xdfff;

/** Gives documents and queries the same spelling. */
function normalize(text: string, configuration: string): string {
  const plain = text.normalize('NFC').replaceAll('ё', 'е').replaceAll('Ё', 'Е').replace(INVISIBLE, '');
  if (configuration !== UNSTEMMED) return plain.replace(/[‘’ʻʼ]/gu, "'");
  return plain.replace(APOSTROPHES, '').replace(LAST_LETTERS, '');
}

/**
 * The words of a text, separated by blanks. Without this step PostgreSQL's parser would take dashes, guillemets and
 * other signs beyond ASCII for letters, and "credit/debit", "sent.Thanks" and addresses for single words. Hash signs
 * would look like tags.
 */
function tokenize(text: string): string {
  let words = '';
  let begin = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const isInside = at < text.length && isWordCharacterAt(text, at);
    if (isInside === begin >= 0) continue;
    if (!isInside) words += `${words === '' ? '' : ' '}${text.slice(begin, at)}`;
    begin = isInside ? at : -1;
  }
  return words;
}

function isWordCharacterAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < FIRST_SURROGATE || unit > LAST_SURROGATE) return isWordUnit[unit] === 1;
  const point = text.codePointAt(unit < FIRST_LOW_SURROGATE ? at : at - 1) ?? 0;
  return point > LAST_SURROGATE && WORD_CHARACTER.test(String.fromCodePoint(point));
}

/** The text of a document, ready for `to_tsvector`. */
export function documentText(utterances: readonly Pick<Utterance, 'text'>[], configuration: string): string {
  return tokenize(normalize(utterances.map(({ text }) => text).join(BETWEEN_UTTERANCES), configuration));
}

const QUOTES = /[“”„«»]/gu;
const PHRASE_OR_WORD = /(-?)(?:"([^"]*)"|([^\s"]+))/gu;

/** The phrases and words of a query, each with the minus before it. */
function partsOf(q: string, configuration: string): { readonly minus: string; readonly words: string }[] {
  const normalized = normalize(q, configuration).replace(QUOTES, '"');
  return [...normalized.matchAll(PHRASE_OR_WORD)].map(([, minus = '', phrase, word = '']) => {
    return { minus, words: tokenize(phrase ?? word) };
  });
}

/**
 * The text of a query, ready for `websearch_to_tsquery`. Every part is quoted: so the parts of "wi-fi" stay together, a
 * minus counts only before a word, and "or" is an ordinary word.
 */
export function webSearchText(q: string, configuration: string): string {
  return partsOf(q, configuration)
    .filter(({ words }) => /[\p{L}\p{N}]/u.test(words))
    .map(({ minus, words }) => `${minus}"${words}"`)
    .join(' ');
}

/** A word of an utterance as the search compares it, and its place in the text. */
interface SpokenWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A word with the signs that normalizing removes or that part it. */
const SPOKEN = /[\p{L}\p{N}\p{M}\p{Cf}\uFE00-\uFE0F'‘’ʻʼ`´′]+/gu;

/** The words of a text in their places. Both parts of "don't" have the place of the whole. */
export function spokenWords(text: string, configuration: string): SpokenWord[] {
  return [...text.matchAll(SPOKEN)].flatMap(({ 0: spoken, index }) =>
    tokenize(normalize(spoken, configuration))
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => ({ word, start: index, end: index + spoken.length })),
  );
}

/** The phrases of a query that documents must have; a single word is a phrase of one. */
export function queryPhrases(q: string, configuration: string): string[][] {
  return partsOf(q, configuration)
    .filter(({ minus, words }) => minus !== '-' && words !== '')
    .map(({ words }) => words.split(' '));
}
