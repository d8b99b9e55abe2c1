import type { Utterance } from '@call-analysis/events';

/**
 * How words of a language become what is searched for. PostgreSQL has stems of three of our languages; words of the
 * others, and of a language that is not known, stay as they are. None is left out because it is frequent.
 */
const CONFIGURATIONS = new Map([
  ['en', 'every_english_word'],
  ['ru', 'every_russian_word'],
  ['es', 'every_spanish_word'],
]);
const PLAIN = 'simple';

/** All there are, the plain one last. */
export const configurations: readonly string[] = [...CONFIGURATIONS.values(), PLAIN];

export function configurationOf(language: string | null): string {
  return CONFIGURATIONS.get(language ?? '') ?? PLAIN;
}

/** Further words of a document say what it is; they begin with what no word begins with. */
export function tagOfConfiguration(configuration: string): string {
  return `#${configuration}`;
}

export function tagOfFacet(id: number): string {
  return `#${id}`;
}

/** A number that stands between utterances while words get their places, so that no phrase reaches across. */
export const PAUSE = '000000000000';
const BETWEEN_UTTERANCES = ` ${PAUSE} `;

/** Letters that belong together in Latin Uzbek, whatever apostrophe is typed between them, and also when none is. */
const APOSTROPHES = /(?<=\p{L})['‘’ʻʼ`´′](?=\p{L})/gu;
/** At the end of a syllable only behind these two is an apostrophe part of the letter. */
const LAST_LETTERS = /(?<=[oOgG])['‘’ʻʼ`´′](?!\p{L})/gu;

/** Nobody sees them: soft hyphens, marks of direction, what makes a sign an emoji. */
const UNSEEN = /[\p{Cf}\uFE00-\uFE0F]/gu;
const OF_WORDS = /[\p{L}\p{N}\p{M}]/u;
/** The same by UTF-16 unit, in a fraction of the time; surrogates are looked at in pairs. */
const ofWords = Uint8Array.from({ length: 0x1_0000 }, (_, unit) => Number(OF_WORDS.test(String.fromCharCode(unit))));
const FIRST_SURROGATE = 0xd800;
const FIRST_LOW_SURROGATE = 0xdc00;
const LAST_SURROGATE = 0xdfff;

/** What is searched in and what is searched for, in one spelling. */
function spelled(text: string, configuration: string): string {
  const plain = text.normalize('NFC').replaceAll('ё', 'е').replaceAll('Ё', 'Е').replace(UNSEEN, '');
  if (configuration !== PLAIN) return plain.replace(/[‘’ʻʼ]/gu, "'");
  return plain.replace(APOSTROPHES, '').replace(LAST_LETTERS, '');
}

/**
 * Words with blanks between them. PostgreSQL's parser would take dashes, guillemets and all other signs beyond ASCII for
 * letters, and "credit/debit", "sent.Thanks" and addresses for one word each. Hash signs would look like our own words.
 */
function wordsAlone(spelledText: string): string {
  let words = '';
  let begin = -1;
  for (let at = 0; at <= spelledText.length; at += 1) {
    const isInside = at < spelledText.length && isOfWordAt(spelledText, at);
    if (isInside === begin >= 0) continue;
    if (!isInside) words += `${words === '' ? '' : ' '}${spelledText.slice(begin, at)}`;
    begin = isInside ? at : -1;
  }
  return words;
}

function isOfWordAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < FIRST_SURROGATE || unit > LAST_SURROGATE) return ofWords[unit] === 1;
  const point = text.codePointAt(unit < FIRST_LOW_SURROGATE ? at : at - 1) ?? 0;
  return point > LAST_SURROGATE && OF_WORDS.test(String.fromCodePoint(point));
}

export function documentOf(utterances: readonly Pick<Utterance, 'text'>[], configuration: string): string {
  return wordsAlone(spelled(utterances.map(({ text }) => text).join(BETWEEN_UTTERANCES), configuration));
}

const QUOTES = /[“”„«»]/gu;
const PHRASE_OR_WORD = /(-?)(?:"([^"]*)"|([^\s"]+))/gu;

/**
 * What `websearch_to_tsquery` is given. Everything stands in quotes: what a sign holds together, as in "wi-fi", stays
 * together, a minus counts only before a word, and "or" is a word like any other.
 */
export function askedFor(q: string, configuration: string): string {
  const asked = spelled(q, configuration).replace(QUOTES, '"');
  return [...asked.matchAll(PHRASE_OR_WORD)]
    .map(([, minus = '', phrase, word = '']) => ({ minus, words: wordsAlone(phrase ?? word) }))
    .filter(({ words }) => /[\p{L}\p{N}]/u.test(words))
    .map(({ minus, words }) => `${minus}"${words}"`)
    .join(' ');
}
