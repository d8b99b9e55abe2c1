import type { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Heard } from '../engine.ts';

/** What engines call our languages: ISO 639-1 and 639-2 codes, and names as Whisper has them. */
const names: ReadonlyMap<string, Language> = new Map([
  ...['en', 'eng', 'english'].map((name) => [name, 'en'] as const),
  ...['ru', 'rus', 'russian'].map((name) => [name, 'ru'] as const),
  ...['uz', 'uzb', 'uzn', 'uzbek'].map((name) => [name, 'uz'] as const),
  ...['ky', 'kir', 'kirghiz', 'kyrgyz'].map((name) => [name, 'ky'] as const),
  ...['es', 'spa', 'spanish', 'castilian'].map((name) => [name, 'es'] as const),
]);

const nothingSaid: ReadonlySet<string> = new Set([
  '',
  'und',
  'zxx',
  'mul',
  'auto',
  'none',
  'null',
  'unknown',
  'undefined',
]);

/** Our language of a name or code (`en`, `English`, `es-MX`, `uz_Latn`), 'other' for any other, null when none is named. */
export function languageNamed(name: string | null | undefined): Language | 'other' | null {
  const plain = (name ?? '').trim().toLowerCase();
  if (nothingSaid.has(plain)) return null;
  return names.get(plain.replace(/^([a-z]{2,3})[-_].*$/, '$1')) ?? 'other';
}

/** Shorter pieces make every recogniser guess: a cough is Welsh to it. */
const TELLING_SECONDS = 5;

/** Whisper's average log probability above which its words belong together: speech in its own language has -0.1 to -0.7. */
const SURE_LOGPROB = -0.7;

/** Probability of the language, where an engine tells it. */
const SURE_PROBABILITY = 0.8;

/**
 * Whether an engine that names a language that is not ours is to be believed. Measured with Whisper base: French, German
 * and Italian come with -0.65, -0.38, -0.58; Russian that it took for Latin with -1.15; Kyrgyz, Uzbek and Turkish that it
 * wrote down as Thai with -0.8 to -0.9, and those betray themselves by a script that none of our languages has.
 */
export function isSureOfOther(found: {
  readonly pieceSeconds: number;
  readonly heard: readonly Heard[];
  /** Mean over what was heard; null when the engine does not tell. */
  readonly logprob: number | null;
  readonly probability: number | null;
}): boolean {
  if (found.pieceSeconds < TELLING_SECONDS || found.heard.length === 0) return false;
  if (found.probability !== null) return found.probability >= SURE_PROBABILITY;
  return (found.logprob ?? 0) >= SURE_LOGPROB || isForeignScript(found.heard.map(({ text }) => text).join(' '));
}

function isForeignScript(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  const ours = letters.filter((letter) => /[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(letter));
  return letters.length >= 5 && ours.length < letters.length / 2;
}

/** The name is an engine's word: it is shown only when it looks like one. */
export function languageNotSupported(name: string): Fault {
  const shown = /^[\p{L} -]{2,30}$/u.test(name) ? name.toLowerCase() : 'unknown';
  return new Fault(
    'invalid',
    'LANGUAGE_NOT_SUPPORTED',
    `What is spoken is neither English, Russian, Uzbek, Kyrgyz nor Spanish, or the speech engine does not know that ` +
      `language (it took it for: ${shown}). Configure an engine that does and try the call again.`,
    { details: { language: shown } },
  );
}
