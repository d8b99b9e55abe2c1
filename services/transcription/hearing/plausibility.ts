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
export const TELLING_SECONDS = 1.5;
/** Even slow speakers say a word a second once their pauses have been cut away. */
const LEAST_WORDS_PER_SECOND = 0.9;
/** Of all runs of three words, so many that stood before are a model going in circles. */
const MOST_REPEATED = 0.25;
const RUN = 3;
/** People say a thing twice, or "no" six times, but not half of a long sentence over again. */
const CIRCLE_WORDS = 12;
const CIRCLE_REPEATED = 0.5;
/** What is longer and lost may be music, which says nothing about what is spoken beside it. */
const MUSIC_SECONDS = 12;
/** Less than this is no verdict on anyone, and from the second on it is a sure one. */
const LEAST_SECONDS = 6;
const SURE_SECONDS = 30;
/** From so much of the time on, what one party says is not in the model's language. */
const MOST_LOST = 0.25;
/** One short piece may be lost by chance: it happens to one English piece in a hundred. */
const LEAST_LOST_PIECES = 2;
const LEAST_LOST_SECONDS = 6;
/** Up to so much of the time is lost of what is in the model's language: of English 0.4 %, of Kyrgyz seldom under 15. */
const LITTLE_LOST = 0.05;
/**
 * So many of the words are among the language's commonest when it is that language, and fewer than the second when it is
 * not; in between, and of a few words, nobody can tell. English models make English words of anything, so the bounds are
 * high there.
 */
const LEAST_WORDS = 30;
const KNOWN_ENGLISH = { surely: 0.44, hardly: 0.3 };
const KNOWN = { surely: 0.15, hardly: 0.05 };

/**
 * Whether nobody in a call can be speaking the model's language: somebody surely does not, and nobody surely does. Also
 * false when too little is said to tell. A model that tells the language itself is believed.
 *
 * Measured with Moonshine tiny on sample calls read by synthetic voices at 8 kHz: refused are 0 of 18 English, and 5 of 5
 * Russian, Uzbek, Kyrgyz and Spanish calls each. Of what one party says in English nothing is lost, but 9 and 21 % in 2
 * cases of 36; in each call of another language one party at least loses 49 %.
 */
export function isForeign(languages: readonly string[], attempts: readonly Attempt[]): boolean {
  if (languages.length === 0) return false;
  const telling = attempts.filter(({ seconds }) => seconds >= TELLING_SECONDS);
  const judged = telling.filter((each) => each.seconds < MUSIC_SECONDS || !isLost(each));
  if (secondsOf(judged) < LEAST_SECONDS) return secondsOf(telling) >= LEAST_SECONDS && telling.every(isLost);
  const sides = (['left', 'right'] as const).map((side) => judged.filter((each) => each.side === side));
  const heard = sides.filter((side) => secondsOf(side) >= LEAST_SECONDS);
  const verdicts = (heard.length === 0 ? [judged] : heard).map((side) => verdictOn(side, languages));
  return verdicts.includes('foreign') && !verdicts.includes('familiar');
}

function verdictOn(attempts: readonly Attempt[], languages: readonly string[]): 'foreign' | 'familiar' | 'unclear' {
  const lost = attempts.filter(isLost);
  const share = lostShare(attempts);
  const isChance = lost.length < LEAST_LOST_PIECES && secondsOf(lost) < LEAST_LOST_SECONDS;
  if (share >= MOST_LOST && !isChance) return 'foreign';
  const known = knownShare(languages, attempts);
  const words = attempts.reduce((sum, { text }) => sum + wordsOf(text).length, 0);
  if (known === null || words < LEAST_WORDS) return 'unclear';
  const { surely, hardly } = languages.length === 1 && languages[0] === 'en' ? KNOWN_ENGLISH : KNOWN;
  if (known < hardly) return 'foreign';
  return known >= surely && share <= LITTLE_LOST && secondsOf(attempts) >= SURE_SECONDS ? 'familiar' : 'unclear';
}

/** How much of the time a model made nothing of what was said: it stayed silent, or went in circles. */
function lostShare(attempts: readonly Attempt[]): number {
  const seconds = secondsOf(attempts);
  return seconds === 0 ? 0 : secondsOf(attempts.filter(isLost)) / seconds;
}

/** How many of the words are among the commonest of the languages; null when none of these is listed, or nothing was said. */
export function knownShare(languages: readonly string[], attempts: readonly Attempt[]): number | null {
  const listed = Language.options.filter((language) => languages.includes(language));
  const words = attempts.flatMap(({ text }) => wordsOf(text));
  if (listed.length === 0 || words.length === 0) return null;
  const shares = listed.map(
    (language) => words.filter((word) => COMMON_WORDS[language].has(word)).length / words.length,
  );
  return Math.max(...shares);
}

/** Whether a model made nothing of a piece. */
export function isLost({ text, seconds }: Pick<Attempt, 'text' | 'seconds'>): boolean {
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
