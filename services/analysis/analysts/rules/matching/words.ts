import {
  CLAUSE_END,
  CONTROL,
  DOT,
  EXCLAMATION,
  foldBeyond,
  INVERTED_QUESTION,
  KIND,
  kindBeyond,
  LETTER,
  MARK,
  QUESTION,
  SILENT,
  SURROGATE,
} from '../../../scorecards/characters.ts';
import type { Phrasebook } from './phrasebook.ts';

/** Values of `Words.breaks`: a clause or a sentence ended before the word. */
export const CLAUSE_BREAK = 1;
export const SENTENCE_BREAK = 2;

/** The number of words over which a negation has effect. */
const NEGATION_REACH = 3;
/** Arrays that a huge text has grown beyond this length are released before the next text. */
const KEPT_LENGTH = 1 << 16;

/** The words of one text, in order. The same object reads the next text, so that reading allocates nothing. */
export class Words {
  count = 0;
  /** UTF-16 offsets. The end is exclusive. */
  starts = new Int32Array(256);
  ends = new Int32Array(256);
  /** The word set of each word in the phrasebook that the text was read with. */
  sets = new Int32Array(256);
  /** CLAUSE_BREAK or SENTENCE_BREAK where a clause or a sentence ended before the word, else 0. */
  breaks = new Uint8Array(256);
  /** The number of sentences with a question mark. */
  questionMarks = 0;
  /** The first word of the last sentence when no mark ends that sentence, else `count`. */
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
      /** The units of the character. */
      let size = 1;
      if (kind === SURROGATE && isPairAt(text, at)) {
        const codePoint = text.codePointAt(at)!;
        kind = kindBeyond(codePoint);
        unit = kind === LETTER ? foldBeyond(codePoint) : 0;
        size = 2;
      }
      if (kind === LETTER) {
        const start = at;
        let end = at;
        let node = 0;
        let isInTrie = true;
        // Reads to the end of the word. Letters follow the trie; marks and apostrophes between letters are ignored.
        for (;;) {
          if (kind === LETTER) {
            if (isInTrie) {
              const next = letters[node * width + (alphabet[unit] ?? 0)] ?? 0;
              if (next === 0) isInTrie = false;
              else node = next;
            }
            end = at + size;
          } else if (kind === MARK) {
            end = at + size;
          } else if (kind !== SILENT) {
            break;
          }
          at += size;
          if (at >= length) break;
          unit = text.charCodeAt(at);
          kind = KIND[unit];
          size = 1;
          if (kind === SURROGATE && isPairAt(text, at)) {
            const codePoint = text.codePointAt(at)!;
            kind = kindBeyond(codePoint);
            unit = kind === LETTER ? foldBeyond(codePoint) : 0;
            size = 2;
          }
        }
        at = end;
        if (count === capacity) {
          this.#resize(capacity * 2);
          capacity *= 2;
        }
        this.starts[count] = start;
        this.ends[count] = end;
        this.sets[count] = (isInTrie ? setAtEnd[node] : setBeyond[node]) ?? 0;
        this.breaks[count] = pendingBreak;
        pendingBreak = 0;
        count += 1;
        continue;
      }
      at += size;
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
          // An ellipsis is a pause and does not end the sentence.
          while (at < length && KIND[text.charCodeAt(at)] === DOT) at += 1;
          if (pendingBreak === 0) pendingBreak = CLAUSE_BREAK;
        } else if (at >= length || !isLetterAt(text, at)) {
          ends = true;
        }
      } else if (kind === SURROGATE) {
        ends = true;
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

  /** Whether a negation in the same clause negates the words from `first` up to `end` (exclusive). */
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

function isPairAt(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

function isLetterAt(text: string, at: number): boolean {
  const kind = KIND[text.charCodeAt(at)];
  return kind === SURROGATE && isPairAt(text, at) ? kindBeyond(text.codePointAt(at)!) === LETTER : kind === LETTER;
}
