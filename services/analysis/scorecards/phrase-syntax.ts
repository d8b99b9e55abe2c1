import { FOLD, KIND, LETTER, MARK, SILENT } from './characters.ts';

/**
 * A phrase is a sequence of words:
 * - `refund` is this word, `refund*` any word that begins with it, `#` any word that begins with a digit;
 * - `i|we` is either word, `(call back|ring)` either group of words, and `[very|so]` is optional;
 * - `..` is a gap of up to three words, none of them a negation;
 * - `! no problem` is an exception: text that it covers does not count for its concept.
 *
 * Case, marks, apostrophes and punctuation are ignored. A phrase does not extend past the end of a sentence.
 */
interface Phrase {
  readonly isException: boolean;
  /** The word sequences that each piece of the phrase allows. */
  readonly pieces: readonly (readonly Variant[])[];
}

/** One way to say a phrase: folded words, `x*` for a prefix, GAP for a gap. */
export type Variant = readonly string[];

export const GAP = '..';
export const NUMBER = '#';
/** The number of words that a gap may skip. */
export const GAP_WORDS = 3;

/** The number of variants that a built-in phrase may have. */
export const MAX_VARIANTS = 4000;
/** The number of variants that a phrase of a firm may have. */
const MAX_FIRM_VARIANTS = 50;
const MAX_WORDS = 12;
const MAX_GAPS = 2;
/** A bracketed group that is not attached to a word on either side. */
const GROUP = /(?<![^\s)\]])(?:\[[^()[\]]*\]|\([^()[\]]*\))(?![\p{L}\p{N}])/gu;
/** A bracketed group, or anything between spaces. */
const PIECE = /\[[^\]]*\]|\([^)]*\)|\S+/gu;

class PhraseError extends Error {}

/** A sentence that says why a firm's phrase is not valid, or null when it is. */
export function phraseFault(phrase: string): string | null {
  try {
    checkBrackets(phrase);
    const { pieces } = parsePhrase(phrase, MAX_FIRM_VARIANTS);
    forEachVariant(pieces, checkVariant);
    return null;
  } catch (error) {
    if (error instanceof PhraseError) return error.message;
    throw error;
  }
}

/** The number of words in all variants of a valid phrase of a firm. It determines how much a phrasebook grows. */
export function countVariantWords(phrase: string): number {
  let count = 0;
  forEachVariant(parsePhrase(phrase, MAX_FIRM_VARIANTS).pieces, ({ length }) => {
    count += length;
  });
  return count;
}

/** A word in the form in which matching compares it. */
export function foldWord(word: string): string {
  let folded = '';
  for (let index = 0; index < word.length; index += 1) {
    const unit = word.charCodeAt(index);
    if (KIND[unit] === LETTER) folded += String.fromCharCode(FOLD[unit] ?? unit);
    else if (KIND[unit] !== MARK && KIND[unit] !== SILENT) folded += ' ';
  }
  return folded.trim();
}

/** An unpaired or misplaced bracket would silently change what the phrase matches. */
function checkBrackets(phrase: string): void {
  if (!/[()[\]]/u.test(phrase.trim().replace(/^!/u, '').replace(GROUP, ' '))) return;
  throw new PhraseError('Brackets must come in pairs, enclose complete words and not be nested.');
}

export function parsePhrase(phrase: string, maxVariants: number): Phrase {
  const trimmed = phrase.trim();
  const isException = trimmed.startsWith('!');
  const pieces = ((isException ? trimmed.slice(1) : trimmed).match(PIECE) ?? []).map(parsePiece);
  const variants = pieces.reduce((count, choices) => count * choices.length, 1);
  if (variants > maxVariants) throw new PhraseError('The phrase has too many variants.');
  if (pieces.flat(2).every((word) => word === GAP)) throw new PhraseError('The phrase has no word.');
  return { isException, pieces };
}

/** The word sequences that one piece of a phrase allows. */
function parsePiece(piece: string): Variant[] {
  if (piece === GAP) return [[GAP]];
  const isOptional = piece.startsWith('[');
  const isGroup = isOptional || piece.startsWith('(');
  const choices = (isGroup ? piece.slice(1, piece.length - 1) : piece)
    .split('|')
    .map((choice) => choice.split(/\s+/u).flatMap(parseWords));
  return isOptional ? [...choices, []] : choices;
}

/** The folded words in a text without spaces. Punctuation inside it separates words. */
export function parseWords(written: string): string[] {
  if (written === NUMBER) return [NUMBER];
  const words = foldWord(written)
    .split(/ +/u)
    .filter((word) => word !== '');
  const last = words.pop();
  if (last === undefined) return [];
  return [...words, written.endsWith('*') ? `${last}*` : last];
}

/** Passes every variant to `visit`, in the same array each time: thousands of phrases are expanded without garbage. */
export function forEachVariant(pieces: Phrase['pieces'], visit: (variant: Variant) => void): void {
  const variant: string[] = [];
  const extend = (index: number): void => {
    const choices = pieces[index];
    if (choices === undefined) {
      // A phrase of optional words has a variant without any word.
      if (variant.some((word) => word !== GAP)) visit(variant);
      return;
    }
    for (const words of choices) {
      const length = variant.length;
      variant.push(...words);
      extend(index + 1);
      variant.length = length;
    }
  };
  extend(0);
}

export function checkVariant(variant: Variant): void {
  if (variant[0] === GAP || variant.at(-1) === GAP) throw new PhraseError('A phrase cannot begin or end with a gap.');
  if (variant.length > MAX_WORDS) throw new PhraseError(`The phrase has more than ${MAX_WORDS} words.`);
  let gaps = 0;
  for (let index = 0; index < variant.length; index += 1) {
    if (variant[index] !== GAP) continue;
    gaps += 1;
    if (variant[index + 1] === GAP) throw new PhraseError('Two gaps cannot follow each other.');
  }
  if (gaps > MAX_GAPS) throw new PhraseError(`The phrase has more than ${MAX_GAPS} gaps.`);
}
