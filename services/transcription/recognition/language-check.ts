import { Language } from '@call-analysis/events';
import type { Side } from '../audio/stereo.ts';
import type { IdentifiedLanguage } from './language-listener.ts';
import { wordErrors, wordsOf } from './word-errors.ts';

/** A model's text for a segment of one channel, and the segment's length. */
export interface Attempt {
  readonly text: string;
  readonly seconds: number;
  readonly side: Side;
}

/** What is recognized a second time in a call whose sound is doubtful. */
export interface SecondRecognition {
  /** Longer windows, and one of both parties. */
  readonly identified: readonly IdentifiedLanguage[];
  /** The share of words that stay when the same speech is recognized a little slower. */
  readonly agreement: number;
}

/** Shorter segments are not judged: they may contain a single word, or a cough. */
export const MIN_JUDGED_SECONDS = 1.5;
/** Even slow speakers say about a word a second when pauses are not counted. */
const MIN_WORDS_PER_SECOND = 0.9;
/** When more than this share of all runs of three words occurred before, the model repeats itself. */
const MAX_REPEATED = 0.25;
const RUN_WORDS = 3;
/** People say something twice, or "no" six times, but do not repeat half of a long sentence. */
const CIRCLE_WORDS = 12;
const CIRCLE_REPEATED = 0.5;
/** A longer lost segment may be music, which says nothing about the spoken language. */
const MUSIC_SECONDS = 12;
/** Speech needed to judge a party at all, and to be sure that it speaks the language. */
const MIN_SECONDS = 6;
const SURE_SECONDS = 30;
/** A party that loses this share of its time does not speak the model's language. */
const MAX_LOST = 0.25;
/** One short segment may be lost by chance: it happens to one English segment in a hundred. */
const MIN_LOST_SEGMENTS = 2;
const MIN_LOST_SECONDS = 6;
/**
 * Loss up to this share is normal in the model's language: Moonshine loses 0.4 % of English and rarely less than 15 %
 * of Kyrgyz.
 */
const LITTLE_LOST = 0.05;
/**
 * The share of words that are among the language's commonest: at least `surely` when it is that language, less than
 * `hardly` when it is not. Between the two, or with few words, the result is unclear. English models turn any sound
 * into English words, so their bounds are higher.
 */
const MIN_WORDS = 30;
const KNOWN_ENGLISH = { surely: 0.44, hardly: 0.3 };
const KNOWN = { surely: 0.15, hardly: 0.05 };

/** The probability from which on a window is sure. A party with such a window speaks the model's language. */
const SURE_PROBABILITY = 0.7;
/** After this many sure windows of one party, no more are needed. */
const SURE_WINDOWS = 2;
/** So does one of each party from this probability on; one party alone may have greeted in English. */
const VERY_SURE_PROBABILITY = 0.9;
/**
 * Without a sure window of a party all windows decide: another language if it is so much likelier, the model's if that
 * is likelier, and otherwise the text. In 190 calls of the tuning half that were in other languages English had at most
 * 0.37 on average, in 50 English ones, most of them by synthetic voices with accents, at least 0.66.
 */
const CLEARLY = 1.5;
/**
 * The least sum of probabilities that decides. A single window refuses a call only if one other language has this
 * probability in it.
 */
const MIN_IDENTIFIED = 0.5;
const MIN_WINDOWS = 2;
/**
 * A call in which English is so likely on average, without being sure, is recognized a second time. In 108 calls of the tuning
 * half that were in other languages the average was at most 0.25, in 53 English ones, most of them by synthetic voices
 * with accents, at least 0.20.
 */
const DOUBTFUL = { from: 0.1, to: 0.6 };
/**
 * The least sum of three shares with which a doubtful call is English: the average probability of English in the first
 * windows, that in the second ones, and the agreement of the texts. In the tuning half it was at most 0.83 in other
 * languages, and at least 1.24 in six of seven English calls; the seventh, with 0.96, was measured after this was set.
 */
const MIN_ENGLISH = 1;
/** The identification takes these for many others, so it does not judge a model that knows one of them. */
const HARD_TO_IDENTIFY: readonly string[] = ['uz', 'ky'];

type Verdict = 'foreign' | 'familiar' | 'unclear';

/**
 * Whether the call is not in the model's language: one party surely does not speak it, and no party surely does. The
 * sound decides where it is clear, otherwise what is recognized a second time, otherwise the text. False when there is too
 * little speech, and for a model without languages, which detects the language itself.
 *
 * Text alone is not enough: English models turn the sound of Russian, Spanish and French into plausible English, in
 * which 13 to 56 % of the words are common ones, against 49 to 54 % in English calls. docs/performance.md has the share
 * of calls that are refused.
 */
export function isForeign(
  languages: readonly string[],
  attempts: readonly Attempt[],
  identified: readonly IdentifiedLanguage[] = [],
  second?: SecondRecognition,
): boolean {
  if (languages.length === 0) return false;
  if (second !== undefined)
    return meanKnown(identified, languages) + meanKnown(second.identified, languages) + second.agreement < MIN_ENGLISH;
  return isIdentified(languages)
    ? { familiar: false, foreign: true, unclear: isForeignText(languages, attempts) }[
        soundVerdict(identified, languages)
      ]
    : isForeignText(languages, attempts);
}

/** Whether the model distinguishes these languages. */
export function isIdentified(languages: readonly string[]): boolean {
  return languages.length > 0 && !languages.some((language) => HARD_TO_IDENTIFY.includes(language));
}

/** Whether the parties' languages are so clear that more windows would not change the verdict. */
export function isSurelySpoken(languages: readonly string[], identified: readonly IdentifiedLanguage[]): boolean {
  const parties = (['left', 'right'] as const).map((side) => identified.filter((each) => each.side === side));
  const allFrom = (least: number) => (each: IdentifiedLanguage) => likelihoods(each, languages).known >= least;
  return (
    parties.some((own) => own.length >= SURE_WINDOWS && own.every(allFrom(SURE_PROBABILITY))) ||
    parties.every((own) => own.length > 0 && own.every(allFrom(VERY_SURE_PROBABILITY)))
  );
}

/** Whether English speech is to be recognized a second time. Other models' texts were not measured. */
export function isDoubtful(languages: readonly string[], identified: readonly IdentifiedLanguage[]): boolean {
  if (!isEnglish(languages) || identified.length < MIN_WINDOWS || isSurelySpoken(languages, identified)) return false;
  const mean = meanKnown(identified, languages);
  return mean >= DOUBTFUL.from && mean < DOUBTFUL.to;
}

/**
 * The share of words that two texts of the same speech have in common, of all segments that are long enough. A segment on
 * which the model failed has none in common: its repetition may be the same twice.
 */
export function agreementOf(texts: readonly { first: string; second: string; seconds: number }[]): number {
  let [common, words] = [0, 0];
  for (const { first, second, seconds } of texts) {
    if (seconds < MIN_JUDGED_SECONDS) continue;
    const longer = Math.max(wordsOf(first).length, wordsOf(second).length);
    words += longer;
    if (!isLost({ text: first, seconds })) common += longer - wordErrors(first, second).errors;
  }
  return words === 0 ? 0 : common / words;
}

function soundVerdict(identified: readonly IdentifiedLanguage[], languages: readonly string[]): Verdict {
  const parties = (['left', 'right'] as const).map((side) =>
    sumsOf(
      identified.filter((each) => each.side === side),
      languages,
    ),
  );
  if (parties.some(({ sure, known, other }) => sure && known > other)) return 'familiar';
  const { known, other, named } = sumsOf(identified, languages);
  if (known >= MIN_IDENTIFIED && known > other) return 'familiar';
  const isEnough = other >= MIN_IDENTIFIED && (identified.length >= MIN_WINDOWS || named >= MIN_IDENTIFIED);
  return isEnough && other > CLEARLY * known ? 'foreign' : 'unclear';
}

function meanKnown(identified: readonly IdentifiedLanguage[], languages: readonly string[]): number {
  return identified.length === 0 ? 0 : sumsOf(identified, languages).known / identified.length;
}

function isEnglish(languages: readonly string[]): boolean {
  return languages.length === 1 && languages[0] === 'en';
}

function sumsOf(identified: readonly IdentifiedLanguage[], languages: readonly string[]) {
  const all = identified.map((each) => likelihoods(each, languages));
  const sum = (of: 'known' | 'other' | 'named') => all.reduce((total, each) => total + each[of], 0);
  const sure = all.some(({ known }) => known >= SURE_PROBABILITY);
  return { known: sum('known'), other: sum('other'), named: sum('named'), sure };
}

/**
 * How likely the window is in one of the languages, how likely in any other, and how likely in the other one that is
 * named. Of languages except English nothing is known unless they are the likeliest.
 */
function likelihoods({ language, probability, english }: IdentifiedLanguage, languages: readonly string[]) {
  const isNamed = languages.includes(language);
  const named = isNamed ? 0 : probability;
  if (!languages.includes('en')) return { known: probability - named, other: named, named };
  const known = Math.min(english + (isNamed && language !== 'en' ? probability : 0), 1);
  return { known, other: 1 - known, named };
}

function isForeignText(languages: readonly string[], attempts: readonly Attempt[]): boolean {
  const audible = attempts.filter(({ seconds }) => seconds >= MIN_JUDGED_SECONDS);
  const judged = audible.filter((each) => each.seconds < MUSIC_SECONDS || !isLost(each));
  if (secondsOf(judged) < MIN_SECONDS) return secondsOf(audible) >= MIN_SECONDS && audible.every(isLost);
  const sides = (['left', 'right'] as const).map((side) => judged.filter((each) => each.side === side));
  const parties = sides.filter((side) => secondsOf(side) >= MIN_SECONDS);
  const verdicts = (parties.length === 0 ? [judged] : parties).map((side) => verdictOn(side, languages));
  return verdicts.includes('foreign') && !verdicts.includes('familiar');
}

function verdictOn(attempts: readonly Attempt[], languages: readonly string[]): Verdict {
  const lost = attempts.filter(isLost);
  const share = lostShare(attempts);
  const isChance = lost.length < MIN_LOST_SEGMENTS && secondsOf(lost) < MIN_LOST_SECONDS;
  if (share >= MAX_LOST && !isChance) return 'foreign';
  const known = knownShare(languages, attempts);
  const words = attempts.reduce((sum, { text }) => sum + wordsOf(text).length, 0);
  if (known === null || words < MIN_WORDS) return 'unclear';
  const { surely, hardly } = isEnglish(languages) ? KNOWN_ENGLISH : KNOWN;
  if (known < hardly) return 'foreign';
  return known >= surely && share <= LITTLE_LOST && secondsOf(attempts) >= SURE_SECONDS ? 'familiar' : 'unclear';
}

/** The share of time in which the model found no text or repeated itself. */
function lostShare(attempts: readonly Attempt[]): number {
  const seconds = secondsOf(attempts);
  return seconds === 0 ? 0 : secondsOf(attempts.filter(isLost)) / seconds;
}

/**
 * The share of words that are among the commonest of one of the languages. Null when none of the languages has a list,
 * or when there are no words.
 */
export function knownShare(languages: readonly string[], attempts: readonly Attempt[]): number | null {
  const listed = Language.options.filter((language) => languages.includes(language));
  const words = attempts.flatMap(({ text }) => wordsOf(text));
  if (listed.length === 0 || words.length === 0) return null;
  const shares = listed.map(
    (language) => words.filter((word) => COMMON_WORDS[language].has(word)).length / words.length,
  );
  return Math.max(...shares);
}

/** Whether the model failed on a segment: too few words, or repetition. */
export function isLost({ text, seconds }: Pick<Attempt, 'text' | 'seconds'>): boolean {
  const words = wordsOf(text);
  return words.length < MIN_WORDS_PER_SECOND * seconds || repeatedShare(words) > MAX_REPEATED;
}

/**
 * Whether a model made nothing of all the speech there is. It does not know the language then, whatever the sound is taken
 * for. False when there is too little speech, and for a model without languages.
 */
export function isWithoutText(languages: readonly string[], attempts: readonly Attempt[]): boolean {
  if (languages.length === 0) return false;
  const speech = secondsOf(attempts.filter(({ seconds }) => seconds >= MIN_JUDGED_SECONDS));
  return speech >= MIN_SECONDS && attempts.every(({ text }) => wordsOf(text).length === 0 || isCircular(text));
}

/** Whether a long text is mostly repetition, which models produce for music and noise. */
export function isCircular(text: string): boolean {
  const words = wordsOf(text);
  return words.length >= CIRCLE_WORDS && repeatedShare(words) > CIRCLE_REPEATED;
}

function repeatedShare(words: readonly string[]): number {
  const runs = words.length - RUN_WORDS + 1;
  if (runs < 4) return 0;
  const seen = new Set<string>();
  for (let at = 0; at < runs; at++) seen.add(words.slice(at, at + RUN_WORDS).join(' '));
  return 1 - seen.size / runs;
}

function secondsOf(attempts: readonly Attempt[]): number {
  return attempts.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** The commonest words of each language. About half of the words of a conversation are among them. */
const COMMON_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: words(`the a an and or but i you he she it we they me him her us them my your his its our their is are was were be
    been am do does did have has had can could will would should may might not no yes to of in on at for with from by
    about this that these those what when where who how why there here so if then just ok okay please thank thanks now
    well im its dont thats ill youre ive all one two any some get got go like know think want need see let`),
  ru: words(`и в не на я что он с это как а то по все она так его но мы вы у за бы же от меня мне ты вам вас нас если
    только уже для до из да нет ну вот ли ещё еще когда где кто был была было были есть можно могу может здравствуйте
    спасибо пожалуйста хорошо сейчас у к о об при там тут чтобы или очень мой ваш наш просто тогда`),
  uz: words(`va bu men siz u biz ular bilan uchun ham emas yoq ha bor edi ekan kerak mumkin qanday nima qachon qayer kim
    endi hozir rahmat iltimos yaxshi assalomu alaykum salom shu bir ikki ga da ni ning dan lekin ammo agar chunki juda
    keyin meni mening sizning sizga menga boldi bolsa qilib kop ва бу мен сиз у биз улар билан учун ҳам эмас йўқ ҳа бор
    эди экан керак мумкин қандай нима қачон ким энди ҳозир раҳмат илтимос яхши салом шу бир икки лекин агар жуда кейин`),
  ky: words(`жана бул мен сиз ал биз алар менен үчүн да эмес жок ооба бар эле экен керек мүмкүн кандай эмне качан кайда
    ким эми азыр рахмат сураныч жакшы саламатсызбы салам ушул бир эки бирок эгер анткени абдан кийин мени менин сиздин
    сизге мага болду болсо кылып көп ошол деп болот`),
  es: words(`de la que el en y a los se del las un por con no una su para es al lo como más mas pero sus le ya o este sí
    si porque esta entre cuando muy sin sobre me mi yo tú tu usted nos hay qué que cómo como dónde está estoy tengo
    tiene puede puedo gracias por favor bueno buenos días ahora aquí eso ese esa bien entonces vale`),
};

function words(text: string): Set<string> {
  return new Set(text.trim().split(/\s+/u));
}
