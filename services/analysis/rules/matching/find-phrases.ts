import {
  CLAUSE_END,
  CONTROL,
  DOT,
  EXCLAMATION,
  INVERTED_QUESTION,
  KIND,
  LETTER,
  MARK,
  QUESTION,
  SILENT,
  SURROGATE,
} from './characters.ts';
import { GAP_WORDS, type Phrasebook } from './phrasebook.ts';

/** What stands before a word: nothing, the end of a clause, the end of a sentence. */
export const CLAUSE_BREAK = 1;
export const SENTENCE_BREAK = 2;

/** How many words a negation reaches over. */
const NEGATION_REACH = 3;
/** Arrays that one huge text has grown past this are given back. */
const KEPT_LENGTH = 1 << 16;

/** The words of one text by their place in it. Read again for the next text, so that nothing is allocated for each. */
export class Words {
  count = 0;
  /** UTF-16 offsets, end exclusive. */
  starts = new Int32Array(256);
  ends = new Int32Array(256);
  /** Word sets of the phrasebook it was read with. */
  sets = new Int32Array(256);
  breaks = new Uint8Array(256);
  /** Sentences with a question mark. */
  questionMarks = 0;
  /** The first word of the last sentence when nothing ends that sentence, else `count`. */
  openSentence = 0;

  read(text: string, book: Phrasebook): void {
    if (this.starts.length > KEPT_LENGTH) this.#resize(256);
    const { letters, alphabet, width, setAtEnd, setBeyond } = book;
    const length = text.length;
    let count = 0;
    let capacity = this.starts.length;
    let sentence = 0;
    let pendingBreak = 0;
    let questions = 0;
    let isQuestion = false;
    let at = 0;
    while (at < length) {
      let unit = text.charCodeAt(at);
      let kind = KIND[unit];
      if (kind === LETTER) {
        const start = at;
        let end = at;
        let node = 0;
        let isOnTree = true;
        // A word is read to its end here: letters walk the tree, marks and apostrophes between letters vanish.
        for (;;) {
          if (kind === LETTER) {
            if (isOnTree) {
              const next = letters[node * width + (alphabet[unit] ?? 0)] ?? 0;
              if (next === 0) isOnTree = false;
              else node = next;
            }
            end = at + 1;
          } else if (kind === MARK) {
            end = at + 1;
          } else if (kind !== SILENT) {
            break;
          }
          at += 1;
          if (at >= length) break;
          unit = text.charCodeAt(at);
          kind = KIND[unit];
        }
        at = end;
        if (count === capacity) {
          this.#resize(capacity * 2);
          capacity *= 2;
        }
        this.starts[count] = start;
        this.ends[count] = end;
        this.sets[count] = (isOnTree ? setAtEnd[node] : setBeyond[node]) ?? 0;
        this.breaks[count] = pendingBreak;
        pendingBreak = 0;
        count += 1;
        continue;
      }
      at += 1;
      if (kind === 0) continue;
      let ends = false;
      if (kind === CLAUSE_END) {
        if (pendingBreak === 0) pendingBreak = CLAUSE_BREAK;
      } else if (kind === QUESTION) {
        isQuestion = true;
        ends = true;
      } else if (kind === EXCLAMATION || kind === CONTROL) {
        ends = true;
      } else if (kind === INVERTED_QUESTION) {
        if (pendingBreak === 0) pendingBreak = CLAUSE_BREAK;
        isQuestion = true;
      } else if (kind === DOT) {
        if (at < length && KIND[text.charCodeAt(at)] === DOT) {
          // An ellipsis is a pause: what follows goes on.
          while (at < length && KIND[text.charCodeAt(at)] === DOT) at += 1;
          if (pendingBreak === 0) pendingBreak = CLAUSE_BREAK;
        } else if (at >= length || KIND[text.charCodeAt(at)] !== LETTER) {
          ends = true;
        }
      } else if (kind === SURROGATE) {
        const isPair = unit < 0xdc00 && at < length && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
        if (isPair) at += 1;
        else ends = true;
      }
      if (ends) {
        pendingBreak = SENTENCE_BREAK;
        if (isQuestion && count > sentence) questions += 1;
        isQuestion = false;
        sentence = count;
      }
    }
    if (isQuestion && count > sentence) {
      questions += 1;
      sentence = count;
    }
    this.count = count;
    this.questionMarks = questions;
    this.openSentence = sentence;
  }

  /** Whether a negation in the same clause turns the words from `first` up to `end` around. */
  isNegated(first: number, end: number, book: Phrasebook): boolean {
    const { negates } = book;
    for (let at = first, steps = 0; at > 0 && steps < NEGATION_REACH && this.breaks[at] === 0; steps += 1) {
      at -= 1;
      if (((negates[this.sets[at] ?? 0] ?? 0) & 1) !== 0) return true;
    }
    for (let at = end, steps = 0; at < this.count && steps < NEGATION_REACH && this.breaks[at] === 0; steps += 1) {
      if (((negates[this.sets[at] ?? 0] ?? 0) & 2) !== 0) return true;
      at += 1;
    }
    return false;
  }

  #resize(capacity: number): void {
    const starts = new Int32Array(capacity);
    const ends = new Int32Array(capacity);
    const sets = new Int32Array(capacity);
    const breaks = new Uint8Array(capacity);
    if (capacity > this.starts.length) {
      starts.set(this.starts);
      ends.set(this.ends);
      sets.set(this.sets);
      breaks.set(this.breaks);
    }
    this.starts = starts;
    this.ends = ends;
    this.sets = sets;
    this.breaks = breaks;
  }
}

/** Tells of one phrase found: its concept and its words, `first` up to `end`. */
export type Hear = (concept: number, first: number, end: number) => void;

/** How many steps a search may still take. Below 0 it has broken off, and what it found is not all. */
export interface Patience {
  left: number;
}

const BOUNDLESS: Patience = { left: Infinity };
const NO_SYMBOLS = new Int32Array(0);

/**
 * Finds every phrase of the book in the words that were read with it, in order of their first word.
 * What an exception covers is left out. The work at each word is bounded by the book: thousands of phrases that begin
 * alike can make that much, so phrases from outside are looked for with patience that ends.
 */
export function findPhrases(words: Words, book: Phrasebook, hear: Hear, patience: Patience = BOUNDLESS): void {
  const { begins, ends } = book;
  const { sets, count } = words;
  const excused = new Map<number, number>();
  const found: number[] = [];

  const walk = (node: number, at: number): void => {
    if (at >= count || (words.breaks[at] === SENTENCE_BREAK && node !== 0)) return;
    const symbols = book.sets[sets[at] ?? 0] ?? NO_SYMBOLS;
    patience.left -= 1 + symbols.length;
    if (patience.left < 0) return;
    for (const symbol of symbols) {
      const next = book.steps.get(node * book.symbols + symbol);
      if (next === undefined) continue;
      const ended = ends[next] ?? null;
      if (ended !== null) {
        patience.left -= ended.length;
        for (const concept of ended) found.push(concept, at + 1);
      }
      walk(next, at + 1);
      const behind = book.gaps[next] ?? 0;
      if (behind !== 0) leap(behind, at + 1);
    }
  };
  const leap = (behind: number, from: number): void => {
    for (let at = from; at <= from + GAP_WORDS && at < count; at += 1) {
      if (words.breaks[at] === SENTENCE_BREAK) return;
      walk(behind, at);
      if ((book.negates[sets[at] ?? 0] ?? 0) !== 0) return;
    }
  };

  for (let first = 0; first < count && patience.left >= 0; first += 1) {
    if (begins[sets[first] ?? 0] === 0) continue;
    walk(0, first);
    if (found.length === 0) continue;
    for (let at = 0; at < found.length; at += 2) {
      const concept = found[at] ?? 0;
      const end = found[at + 1] ?? 0;
      if (concept < 0) excused.set(-1 - concept, Math.max(end, excused.get(-1 - concept) ?? 0));
    }
    for (let at = 0; at < found.length; at += 2) {
      const concept = found[at] ?? 0;
      const end = found[at + 1] ?? 0;
      if (concept >= 0 && (excused.get(concept) ?? 0) < end) hear(concept, first, end);
    }
    found.length = 0;
  }
}
