import { FOLD, KIND, LETTER } from '../../scorecards/characters.ts';
import { MAX_QUOTE_LENGTH, type Span } from '../rules/quote.ts';

/** A quote may differ from what was said by one letter in this many. */
const LETTERS_PER_EDIT = 8;
const MAX_EDITS = 12;
/** Shorter quotes must match letter by letter: one edit makes another word of them. */
const MIN_FUZZY_LETTERS = 10;
/** The search for the nearest span takes letters of the quote times letters of the utterance. */
const MAX_FUZZY_CELLS = 1_000_000;
/** Words up to this length carry negations, so a span must have the same ones as the quote, and as many words. */
const SHORT_WORD = 3;
/** Shorter quotes are found only as whole words. */
const MIN_PART_LETTERS = 10;

/** A text as quotes are compared with it: letters and digits, folded, without anything between them. */
export class FoldedText {
  readonly text: string;
  readonly letters: string;
  /** The UTF-16 offset of each letter. */
  readonly #offsets: Uint32Array;

  constructor(text: string) {
    const offsets = new Uint32Array(text.length);
    const codes = new Uint16Array(text.length);
    let count = 0;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (KIND[unit] !== LETTER) continue;
      offsets[count] = at;
      codes[count] = FOLD[unit] ?? unit;
      count += 1;
    }
    this.text = text;
    this.letters = Buffer.from(codes.buffer, 0, 2 * count).toString('utf16le');
    this.#offsets = offsets.subarray(0, count);
  }

  /** The span of the letters from `first` up to `end` (exclusive), with the mark of the sentence that follows. */
  span(first: number, end: number): Span {
    const start = this.#offsets[first] ?? 0;
    const last = (this.#offsets[end - 1] ?? start) + 1;
    const mark = this.text[last];
    return { start, end: mark === '.' || mark === '?' || mark === '!' ? last + 1 : last };
  }

  isWordStart(letter: number): boolean {
    const at = this.#offsets[letter] ?? 0;
    return at === 0 || !isWordUnit(this.text.charCodeAt(at - 1));
  }

  isWordEnd(letter: number): boolean {
    const at = (this.#offsets[letter - 1] ?? 0) + 1;
    return at >= this.text.length || !isWordUnit(this.text.charCodeAt(at));
  }
}

function isWordUnit(unit: number): boolean {
  return KIND[unit] === LETTER;
}

/**
 * Finds a quote in a text: exactly; otherwise after folding case, accents, spaces, punctuation and apostrophes;
 * otherwise, unless `isStrict`, as the nearest span within a small edit distance. The span is verbatim and ends on
 * characters that can be stored. Null if there is none.
 */
export function findQuote(source: FoldedText, quote: string, isStrict: boolean): Span | null {
  const wanted = quote.trim();
  if (wanted === '') return null;
  const at = source.text.indexOf(wanted);
  if (at >= 0 && standsAlone(source.text, at, at + wanted.length)) {
    return usable(source, { start: at, end: at + wanted.length });
  }
  const folded = new FoldedText(wanted);
  const length = folded.letters.length;
  if (length === 0) return null;
  const isWhole = length < MIN_PART_LETTERS;
  for (let first = source.letters.indexOf(folded.letters); first >= 0;) {
    const end = first + length;
    if (!isWhole || (source.isWordStart(first) && source.isWordEnd(end))) {
      return usable(source, source.span(first, end));
    }
    first = source.letters.indexOf(folded.letters, first + 1);
  }
  if (isStrict || length < MIN_FUZZY_LETTERS || length * source.letters.length > MAX_FUZZY_CELLS) return null;
  const nearest = nearestSpan(folded.letters, source.letters);
  if (nearest === null) return null;
  let { first, end } = nearest;
  while (first > 0 && !source.isWordStart(first)) first -= 1;
  while (end < source.letters.length && !source.isWordEnd(end)) end += 1;
  const span = source.span(first, end);
  if (!haveSameShortWords(wanted, source.text.slice(span.start, span.end))) return null;
  return usable(source, span);
}

/** Short pieces inside a longer word prove nothing: "no" in "know". */
function standsAlone(text: string, start: number, end: number): boolean {
  if (end - start >= MIN_PART_LETTERS) return true;
  const before = start > 0 && isWordUnit(text.charCodeAt(start - 1)) && isWordUnit(text.charCodeAt(start));
  const after = isWordUnit(text.charCodeAt(end)) && isWordUnit(text.charCodeAt(end - 1));
  return !before && !after;
}

/** Cuts a span to the length of a quote, at a word. Null when its text cannot be stored. */
function usable({ text }: FoldedText, { start, end }: Span): Span | null {
  let last = end;
  if (last - start > MAX_QUOTE_LENGTH) {
    last = start + MAX_QUOTE_LENGTH;
    while (last > start && isWordUnit(text.charCodeAt(last - 1)) && isWordUnit(text.charCodeAt(last))) last -= 1;
    if (last === start) last = start + MAX_QUOTE_LENGTH;
  }
  const quote = text.slice(start, last).trimEnd();
  if (quote === '' || !quote.isWellFormed() || hasControl(quote)) return null;
  return { start, end: start + quote.length };
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x7f || (unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d)) return true;
  }
  return false;
}

/** The letters of `text` that are nearest to `pattern` by edit distance; null when none are near enough. */
function nearestSpan(pattern: string, text: string): { first: number; end: number } | null {
  const most = Math.min(MAX_EDITS, Math.floor(pattern.length / LETTERS_PER_EDIT));
  if (most === 0) return null;
  const rows = pattern.length;
  // Column by column: the distance of each beginning of the pattern to a span that ends here, and where that span
  // starts.
  let costs = new Uint16Array(rows + 1);
  let starts = new Uint32Array(rows + 1);
  let nextCosts = new Uint16Array(rows + 1);
  let nextStarts = new Uint32Array(rows + 1);
  for (let row = 0; row <= rows; row += 1) costs[row] = row;
  let best = most + 1;
  let first = 0;
  let end = 0;
  for (let column = 0; column < text.length; column += 1) {
    const unit = text.charCodeAt(column);
    nextCosts[0] = 0;
    nextStarts[0] = column + 1;
    for (let row = 1; row <= rows; row += 1) {
      const replaced = costs[row - 1]! + (pattern.charCodeAt(row - 1) === unit ? 0 : 1);
      const inserted = costs[row]! + 1;
      const removed = nextCosts[row - 1]! + 1;
      if (replaced <= inserted && replaced <= removed) {
        nextCosts[row] = replaced;
        nextStarts[row] = row === 1 ? column : starts[row - 1]!;
      } else if (inserted <= removed) {
        nextCosts[row] = inserted;
        nextStarts[row] = starts[row]!;
      } else {
        nextCosts[row] = removed;
        nextStarts[row] = nextStarts[row - 1]!;
      }
    }
    [costs, nextCosts] = [nextCosts, costs];
    [starts, nextStarts] = [nextStarts, starts];
    if (costs[rows]! < best) {
      best = costs[rows]!;
      first = starts[rows]!;
      end = column + 1;
    }
  }
  return best <= most && end > first ? { first, end } : null;
}

function haveSameShortWords(one: string, other: string): boolean {
  const words = wordsOf(one);
  const others = wordsOf(other);
  return words.length === others.length && shortOnes(words) === shortOnes(others);
}

function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('ё', 'е')
      .match(/[\p{L}\p{N}]+(?:['’‘ʻʼ`][\p{L}\p{N}]+)*/gu) ?? []
  );
}

function shortOnes(words: readonly string[]): string {
  return words
    .filter((word) => word.length <= SHORT_WORD)
    .sort()
    .join(' ');
}
