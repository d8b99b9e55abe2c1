import { FOLD, KIND, LETTER, MARK, SILENT } from './characters.ts';

/**
 * Phrases of many concepts, compiled for one pass over a text.
 *
 * A phrase is written in words:
 * - `refund` is this word, `refund*` every word that begins so, `#` a word that begins with a digit;
 * - `i|we` is either word, `(call back|ring)` either group of words, `[very|so]` may be missing,
 *   `..` is up to three words that are not negations;
 * - `! no problem` is an exception: what it covers does not count for its concept.
 * Case, marks, apostrophes and punctuation mean nothing. Phrases do not reach across the end of a sentence.
 */
export interface Phrasebook {
  /** Transitions between letters: `letters[node * width + alphabet[unit]]`, 0 where there is none. */
  readonly letters: Uint16Array | Uint32Array;
  readonly alphabet: Uint16Array;
  readonly width: number;
  /** The word set of a word that ends at a node, and of one that goes on where no node follows. */
  readonly setAtEnd: Int32Array;
  readonly setBeyond: Int32Array;
  /** Word symbols by word set; set 0 is empty. */
  readonly sets: readonly Int32Array[];
  /** Whether a phrase can begin with a word of this set. */
  readonly begins: Uint8Array;
  /** Negations by word set: bit 1 negates what follows it, bit 2 what precedes it. */
  readonly negates: Uint8Array;
  readonly symbols: number;
  /** Next phrase node by `node * symbols + symbol`; node 0 is the beginning. */
  readonly steps: ReadonlyMap<number, number>;
  /** The node behind a gap, 0 where none follows. */
  readonly gaps: Int32Array;
  /** Concepts whose phrase ends at a node; an exception is `-1 - concept`. */
  readonly ends: readonly (readonly number[] | null)[];
}

export interface Concept {
  readonly id: number;
  readonly phrases: readonly string[];
}

/** Words that turn what stands after (or before) them in the same clause into its opposite. */
export interface Negations {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Words that a gap may skip. */
export const GAP_WORDS = 3;

const MAX_WORDS = 12;
const MAX_GAPS = 2;
/** Ways to say one phrase: of our own, and of one that came from outside. */
const MAX_VARIANTS = 4000;
const MAX_VARIANTS_FROM_OUTSIDE = 50;
const NUMBER = '#';
/** A group in brackets, at the beginning of a word and behind no other part of it. */
const GROUP = /(?<![^\s)\]])(?:\[[^()[\]]*\]|\([^()[\]]*\))(?![\p{L}\p{N}])/gu;
/** A group in brackets, or whatever stands between spaces. */
const PIECE = /\[[^\]]*\]|\([^)]*\)|\S+/gu;

/** What is wrong with a phrase, in a sentence, or null. */
export function phraseFault(phrase: string): string | null {
  try {
    checkBrackets(phrase);
    const { pieces } = parsePhrase(phrase, MAX_VARIANTS_FROM_OUTSIDE);
    eachVariant(pieces, checkVariant);
    return null;
  } catch (error) {
    if (error instanceof PhraseFault) return error.message;
    throw error;
  }
}

/** How many words all the ways to say a phrase have together: what it adds to a phrasebook. Of a phrase without fault. */
export function phraseSteps(phrase: string): number {
  let steps = 0;
  eachVariant(parsePhrase(phrase, MAX_VARIANTS_FROM_OUTSIDE).pieces, ({ length }) => {
    steps += length;
  });
  return steps;
}

class PhraseFault extends Error {}

/** A word as the matcher sees it. */
export function foldWord(word: string): string {
  let folded = '';
  for (let at = 0; at < word.length; at += 1) {
    const unit = word.charCodeAt(at);
    if (KIND[unit] === LETTER) folded += String.fromCharCode(FOLD[unit] ?? unit);
    else if (KIND[unit] !== MARK && KIND[unit] !== SILENT) folded += ' ';
  }
  return folded.trim();
}

/** A bracket that has no other, or stands elsewhere, would quietly change what is listened for. */
function checkBrackets(phrase: string): void {
  if (!/[()[\]]/u.test(phrase.trim().replace(/^!/u, '').replace(GROUP, ' '))) return;
  throw new PhraseFault('Brackets of a phrase come in pairs, around whole words, and not within each other.');
}

/** One way to say a phrase: folded words, `x*` for a prefix, `..` for a gap. */
type Variant = readonly string[];

interface Phrase {
  readonly isException: boolean;
  /** The word sequences that each piece stands for. */
  readonly pieces: readonly (readonly Variant[])[];
}

function parsePhrase(phrase: string, mostVariants: number): Phrase {
  const trimmed = phrase.trim();
  const isException = trimmed.startsWith('!');
  const pieces = ((isException ? trimmed.slice(1) : trimmed).match(PIECE) ?? []).map(choicesOf);
  const variants = pieces.reduce((count, choices) => count * choices.length, 1);
  if (variants > mostVariants) throw new PhraseFault('The phrase has too many variants.');
  if (pieces.flat(2).every((word) => word === '..')) throw new PhraseFault('The phrase has no word.');
  return { isException, pieces };
}

/** Tells of every variant in turn; the array is the same each time. Thousands of phrases leave no garbage so. */
function eachVariant(pieces: Phrase['pieces'], tell: (variant: Variant) => void): void {
  const variant: string[] = [];
  const extend = (at: number): void => {
    const choices = pieces[at];
    if (choices === undefined) {
      // A phrase of optional words alone has one way of saying nothing.
      if (variant.some((word) => word !== '..')) tell(variant);
      return;
    }
    for (const words of choices) {
      const length = variant.length;
      variant.push(...words);
      extend(at + 1);
      variant.length = length;
    }
  };
  extend(0);
}

function checkVariant(variant: Variant): void {
  if (variant[0] === '..' || variant.at(-1) === '..') throw new PhraseFault('A phrase cannot begin or end with a gap.');
  if (variant.length > MAX_WORDS) throw new PhraseFault(`The phrase has more than ${MAX_WORDS} words.`);
  let gaps = 0;
  for (let at = 0; at < variant.length; at += 1) {
    if (variant[at] !== '..') continue;
    gaps += 1;
    if (variant[at + 1] === '..') throw new PhraseFault('Two gaps of a phrase cannot stand side by side.');
  }
  if (gaps > MAX_GAPS) throw new PhraseFault(`The phrase has more than ${MAX_GAPS} gaps.`);
}

/** The word sequences that a piece of a phrase stands for. */
function choicesOf(piece: string): string[][] {
  if (piece === '..') return [['..']];
  const isOptional = piece.startsWith('[');
  const isGroup = isOptional || piece.startsWith('(');
  const choices = (isGroup ? piece.slice(1, piece.length - 1) : piece)
    .split('|')
    .map((choice) => choice.split(/\s+/u).flatMap(wordsOf));
  return isOptional ? [...choices, []] : choices;
}

function wordsOf(written: string): string[] {
  if (written === NUMBER) return [NUMBER];
  const words = foldWord(written)
    .split(/ +/u)
    .filter((word) => word !== '');
  const last = words.pop();
  if (last === undefined) return [];
  return [...words, written.endsWith('*') ? `${last}*` : last];
}

/** Throws when a phrase has a fault; phrases from outside are checked with `phraseFault` at the door. */
export function compilePhrasebook(
  concepts: readonly Concept[],
  negations: Negations = { before: [], after: [] },
): Phrasebook {
  const words = new WordTree();
  const parsed = concepts.flatMap(({ id, phrases }) =>
    phrases.map((phrase) => ({ id, ...parsePhrase(phrase, MAX_VARIANTS) })),
  );
  for (const { pieces } of parsed) {
    for (const word of pieces.flat(2)) if (word !== '..') words.symbol(word);
  }
  const negators = [negations.before, negations.after].map(
    (list) => new Set(list.flatMap(wordsOf).map((word) => words.symbol(word))),
  );
  const { symbols } = words;

  const steps = new Map<number, number>();
  const gaps: number[] = [0];
  const ends: (number[] | null)[] = [null];
  const grow = (): number => {
    gaps.push(0);
    return ends.push(null) - 1;
  };
  const add = (variant: Variant, end: number): void => {
    checkVariant(variant);
    let node = 0;
    for (const word of variant) {
      if (word === '..') {
        const behind = gaps[node] || grow();
        gaps[node] = behind;
        node = behind;
      } else {
        const key = node * symbols + words.symbol(word);
        let next = steps.get(key);
        if (next === undefined) {
          next = grow();
          steps.set(key, next);
        }
        node = next;
      }
    }
    const known = ends[node] ?? [];
    if (!known.includes(end)) known.push(end);
    ends[node] = known;
  };
  for (const { id, isException, pieces } of parsed) {
    eachVariant(pieces, (variant) => add(variant, isException ? -1 - id : id));
  }

  const { sets, setAtEnd, setBeyond } = words.collectSets();
  const begins = Uint8Array.from(sets, (set) => (set.some((symbol) => steps.has(symbol)) ? 1 : 0));
  const negates = Uint8Array.from(sets, (set) =>
    negators.reduce((bits, list, side) => (set.some((symbol) => list.has(symbol)) ? bits | (1 << side) : bits), 0),
  );
  return {
    ...words.table(),
    setAtEnd,
    setBeyond,
    sets,
    begins,
    negates,
    symbols,
    steps,
    ends,
    gaps: Int32Array.from(gaps),
  };
}

/** All words of all phrases by their letters. A node is always made after the one that it hangs on. */
class WordTree {
  symbols = 0;
  readonly #next = new Map<number, number>();
  readonly #parents: number[] = [0];
  readonly #units: number[] = [0];
  readonly #exact = new Map<number, number>();
  readonly #prefix = new Map<number, number>();
  readonly #known = new Map<string, number>();

  /** The number of a word or prefix, the same each time. */
  symbol(word: string): number {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const symbol = this.symbols;
    this.symbols += 1;
    this.#known.set(word, symbol);
    if (word === NUMBER) for (let digit = 0; digit < 10; digit += 1) this.#reach(String(digit));
    else if (word.endsWith('*')) this.#prefix.set(this.#reach(word.slice(0, -1)), symbol);
    else this.#exact.set(this.#reach(word), symbol);
    return symbol;
  }

  #reach(word: string): number {
    let node = 0;
    for (let at = 0; at < word.length; at += 1) {
      const unit = word.charCodeAt(at);
      const key = node * 0x10000 + unit;
      let next = this.#next.get(key);
      if (next === undefined) {
        this.#parents.push(node);
        next = this.#units.push(unit) - 1;
        this.#next.set(key, next);
      }
      node = next;
    }
    return node;
  }

  collectSets(): { sets: Int32Array[]; setAtEnd: Int32Array; setBeyond: Int32Array } {
    const sets: Int32Array[] = [new Int32Array(0)];
    const known = new Map<string, number>([['', 0]]);
    /** The set with one symbol more. */
    const extended = (set: number, symbol: number | undefined): number => {
      if (symbol === undefined) return set;
      const key = `${set} ${symbol}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      known.set(key, sets.length);
      return sets.push(Int32Array.from([...(sets[set] ?? []), symbol])) - 1;
    };
    const number = this.#known.get(NUMBER);
    const setAtEnd = new Int32Array(this.#units.length);
    const setBeyond = new Int32Array(this.#units.length);
    for (let node = 1; node < this.#units.length; node += 1) {
      const parent = this.#parents[node] ?? 0;
      const unit = this.#units[node] ?? 0;
      const isDigit = parent === 0 && unit >= 0x30 && unit <= 0x39;
      const inherited = extended(setBeyond[parent] ?? 0, isDigit ? number : undefined);
      setBeyond[node] = extended(inherited, this.#prefix.get(node));
      setAtEnd[node] = extended(setBeyond[node] ?? 0, this.#exact.get(node));
    }
    return { sets, setAtEnd, setBeyond };
  }

  table(): Pick<Phrasebook, 'letters' | 'alphabet' | 'width'> {
    const classes = new Map<number, number>();
    for (const unit of this.#units.slice(1)) if (!classes.has(unit)) classes.set(unit, classes.size + 1);
    const width = classes.size + 1;
    const nodes = this.#units.length;
    const letters = nodes < 0x10000 ? new Uint16Array(nodes * width) : new Uint32Array(nodes * width);
    for (let node = 1; node < nodes; node += 1) {
      letters[(this.#parents[node] ?? 0) * width + (classes.get(this.#units[node] ?? 0) ?? 0)] = node;
    }
    const alphabet = new Uint16Array(0x10000);
    for (let unit = 0; unit < 0x10000; unit += 1) {
      if (KIND[unit] === LETTER) alphabet[unit] = classes.get(FOLD[unit] ?? unit) ?? 0;
    }
    return { letters, alphabet, width };
  }
}
