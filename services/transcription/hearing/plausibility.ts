import { Language } from '@call-analysis/events';
import { COMMON_WORDS } from './common-words.ts';
import { wordsOf } from './word-errors.ts';

/** What a model made of a piece of one channel, and how long the piece was. */
export interface Attempt {
  readonly text: string;
  readonly seconds: number;
  readonly side: 'left' | 'right';
}

/** Shorter pieces may well hold one word, or a cough. */
const TELLING_SECONDS = 1.5;
/** Even slow speakers say a word a second once their pauses have been cut away. */
const LEAST_WORDS_PER_SECOND = 0.9;
/** Of all runs of three words, so many that stood before are a model going in circles. */
const MOST_REPEATED = 0.25;
const RUN = 3;
/** People say a thing twice, or "no" six times, but not half of a long sentence over again. */
const CIRCLE_WORDS = 12;
const CIRCLE_REPEATED = 0.5;
/** Less than this is no verdict on anyone. */
const LEAST_SECONDS = 6;
/** From so much of the time on, what one party says is not in the model's language. English loses nothing, Russian most. */
const MOST_LOST = 0.15;
/**
 * So many of the words are among the language's commonest when it is that language, and fewer than the second when it is
 * not; in between, and of a few words, nobody can tell. English models make English words of anything, so the bounds are
 * high there.
 */
const LEAST_WORDS = 30;
const KNOWN_ENGLISH = { surely: 0.42, hardly: 0.3 };
const KNOWN = { surely: 0.15, hardly: 0.05 };

/**
 * Whether nobody in a call can be speaking the model's language: somebody surely does not, and nobody surely does. Also
 * false when too little is said to tell. A model that tells the language itself is believed.
 *
 * Measured with Moonshine tiny on the sample calls, read by synthetic voices (English ones also quickly, with noise, and
 * by telephone codec): refused are 0 of 20 English, 6 of 6 Russian, 5 of 5 Uzbek, 5 of 5 Kyrgyz and 6 of 6 Spanish calls;
 * by any two sentences alone 0 of 102, 26 of 29, 23 of 25, 20 of 26 and 27 of 34.
 */
export function isForeign(languages: readonly string[], attempts: readonly Attempt[]): boolean {
  if (languages.length === 0) return false;
  const telling = attempts.filter(({ seconds }) => seconds >= TELLING_SECONDS);
  const sides = (['left', 'right'] as const).map((side) => telling.filter((each) => each.side === side));
  // Music on one side says nothing about the other.
  const heard = sides.filter((side) => secondsOf(side) >= LEAST_SECONDS);
  if (heard.length === 0 && secondsOf(telling) >= LEAST_SECONDS) heard.push(telling);
  const verdicts = heard.map((side) => verdictOn(side, languages));
  return verdicts.includes('foreign') && !verdicts.includes('familiar');
}

function verdictOn(attempts: readonly Attempt[], languages: readonly string[]): 'foreign' | 'familiar' | 'unclear' {
  if (lostShare(attempts) >= MOST_LOST) return 'foreign';
  const known = knownShare(languages, attempts);
  const words = attempts.reduce((sum, { text }) => sum + wordsOf(text).length, 0);
  if (known === null || words < LEAST_WORDS) return 'unclear';
  const { surely, hardly } = languages.length === 1 && languages[0] === 'en' ? KNOWN_ENGLISH : KNOWN;
  if (known < hardly) return 'foreign';
  return known < surely ? 'unclear' : 'familiar';
}

/** How much of the time a model made nothing of what was said: it stayed silent, or went in circles. */
export function lostShare(attempts: readonly Attempt[]): number {
  const seconds = secondsOf(attempts);
  return seconds === 0 ? 0 : secondsOf(attempts.filter(isLost)) / seconds;
}

/** How many of the words are among the commonest of the languages; null when none of these is listed, or nothing was said. */
export function knownShare(languages: readonly string[], attempts: readonly Attempt[]): number | null {
  const listed = Language.options.filter((language) => languages.includes(language));
  const words = attempts.flatMap(({ text }) => wordsOf(text));
  if (listed.length === 0 || words.length === 0) return null;
  const shares = listed.map((language) => words.filter((word) => COMMON_WORDS[language].has(word)).length / words.length);
  return Math.max(...shares);
}

export function isLost({ text, seconds }: Attempt): boolean {
  const words = wordsOf(text);
  return words.length < LEAST_WORDS_PER_SECOND * seconds || repeatedShare(words) > MOST_REPEATED;
}

/** Whether a text is a model going in circles over music or noise, which nobody said. */
export function isCircular(text: string): boolean {
  const words = wordsOf(text);
  return words.length >= CIRCLE_WORDS && repeatedShare(words) > CIRCLE_REPEATED;
}

function repeatedShare(words: readonly string[]): number {
  const runs = words.length - RUN + 1;
  if (runs < 4) return 0;
  const seen = new Set<string>();
  for (let at = 0; at < runs; at++) seen.add(words.slice(at, at + RUN).join(' '));
  return 1 - seen.size / runs;
}

function secondsOf(attempts: readonly Attempt[]): number {
  return attempts.reduce((sum, { seconds }) => sum + seconds, 0);
}
