import type { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { TimedText } from './speech-engine.ts';

/** Names that engines use for the supported languages: ISO 639-1 and 639-2 codes, and Whisper's names. */
const names: ReadonlyMap<string, Language> = new Map([
  ...['en', 'eng', 'english'].map((name) => [name, 'en'] as const),
  ...['ru', 'rus', 'russian'].map((name) => [name, 'ru'] as const),
  ...['uz', 'uzb', 'uzn', 'uzbek'].map((name) => [name, 'uz'] as const),
  ...['ky', 'kir', 'kirghiz', 'kyrgyz'].map((name) => [name, 'ky'] as const),
  ...['es', 'spa', 'spanish', 'castilian'].map((name) => [name, 'es'] as const),
]);

/** Codes for "undetermined", "no speech", "several languages" and the like. */
const unnamed: ReadonlySet<string> = new Set(['', 'und', 'zxx', 'mul', 'auto', 'none', 'null', 'unknown', 'undefined']);

/**
 * The supported language with a name or code (`en`, `English`, `es-MX`, `uz_Latn`), 'other' for any other language,
 * null if no language is named.
 */
export function languageNamed(name: string | null | undefined): Language | 'other' | null {
  const plain = (name ?? '').trim().toLowerCase();
  if (unnamed.has(plain)) return null;
  return names.get(plain.replace(/^([a-z]{2,3})[-_].*$/, '$1')) ?? 'other';
}

/** What an engine tells besides the name of a language. */
interface Detected {
  readonly segmentSeconds: number;
  readonly texts: readonly TimedText[];
  /** Mean over the texts; null when the engine does not report it. */
  readonly logprob: number | null;
  readonly probability: number | null;
}

/**
 * The supported language that an engine names; null if it names none, or another that it is not sure of. Fault
 * LANGUAGE_NOT_SUPPORTED when the call's language was not known and the engine is sure of an unsupported one.
 */
export function languageOf(
  name: string | null | undefined,
  known: Language | null,
  detected: Detected,
): Language | null {
  const language = languageNamed(name);
  if (language !== 'other') return language;
  if (known === null && isSureOfOther(detected)) throw languageNotSupported(name ?? '');
  return null;
}

/** In shorter segments every recognizer guesses: Whisper takes a cough for Welsh. */
const MIN_SECONDS = 5;

/** Whisper's average log probability for speech in its own language is -0.1 to -0.7; below that it is unsure. */
const SURE_LOGPROB = -0.7;

/** Probability of the language, where an engine reports it. */
const SURE_PROBABILITY = 0.8;

/**
 * Whether to believe an engine that reports an unsupported language. Measured with Whisper base: French, German and
 * Italian come with -0.65, -0.38, -0.58; Russian taken for Latin with -1.15; Kyrgyz, Uzbek and Turkish written as Thai
 * with -0.8 to -0.9. The last group shows itself by a script that no supported language uses.
 */
function isSureOfOther({ segmentSeconds, texts, logprob, probability }: Detected): boolean {
  if (segmentSeconds < MIN_SECONDS || texts.length === 0) return false;
  if (probability !== null) return probability >= SURE_PROBABILITY;
  return (logprob ?? 0) >= SURE_LOGPROB || isForeignScript(texts.map(({ text }) => text).join(' '));
}

function isForeignScript(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  const supported = letters.filter((letter) => /[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(letter));
  return letters.length >= 5 && supported.length < letters.length / 2;
}

/** The name comes from the engine, so it is shown only when it looks like a word. */
export function languageNotSupported(name: string): Fault {
  const shown = /^[\p{L} -]{2,30}$/u.test(name) ? name.toLowerCase() : 'unknown';
  return new Fault(
    'invalid',
    'LANGUAGE_NOT_SUPPORTED',
    'The call is not in English, Russian, Uzbek, Kyrgyz or Spanish, or the speech engine does not know its language ' +
      `(the engine reported: ${shown}). Configure an engine that knows the language and retry the call.`,
    { details: { language: shown } },
  );
}
