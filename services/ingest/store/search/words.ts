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

/** What is searched in and what is searched for, in one spelling. Hash signs would look like our own words. */
export function spelled(text: string, configuration: string): string {
  const plain = text.normalize('NFC').replaceAll('ё', 'е').replaceAll('Ё', 'Е').replaceAll('\0', ' ');
  if (configuration !== PLAIN) return plain.replace(/[‘’ʼ]/gu, "'");
  return plain.replace(APOSTROPHES, '').replace(LAST_LETTERS, '');
}

export function documentOf(utterances: readonly Pick<Utterance, 'text'>[], configuration: string): string {
  return spelled(utterances.map(({ text }) => text).join(BETWEEN_UTTERANCES), configuration);
}
