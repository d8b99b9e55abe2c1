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
  readonly ends: readonly (Int32Array | null)[];
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
/** A group in brackets, or whatever stands between spaces. */
const PIECE = /\[[^\]]*\]|\([^)]*\)|\S+/gu;

/** What is wrong with a phrase, in a sentence, or null. */
export function phraseFault(phrase: string): string | null {
  try {
    variantsOf(phrase, MAX_VARIANTS_FROM_OUTSIDE);
    return null;
  } catch (error) {
    if (error instanceof PhraseFault) return error.message;
    throw error;
  }
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

/** One way to say a phrase: folded words, `x*` for a prefix, `..` for a gap. */
type Variant = readonly string[];

function variantsOf(phrase: string, most = MAX_VARIANTS): { exception: boolean; variants: readonly Variant[] } {
  const trimmed = phrase.trim();
  const exception = trimmed.startsWith('!');
  const pieces = (exception ? trimmed.slice(1) : trimmed).match(PIECE) ?? [];
  let variants: string[][] = [[]];
  for (const piece of pieces) {
    const choices = choicesOf(piece);
    if (variants.length * choices.length > most) throw new PhraseFault('The phrase has too many variants.');
    variants = variants.flatMap((variant) => choices.map((choice) => [...variant, ...choice]));
  }
  const said = variants.filter((variant) => variant.some((word) => word !== '..'));
  if (said.length === 0) throw new PhraseFault('The phrase has no word.');
  for (const variant of said) {
    if (variant[0] === '..' || variant.at(-1) === '..') throw new PhraseFault('A phrase cannot begin or end with a gap.');
    if (variant.some((word, at) => word === '..' && variant[at + 1] === '..')) {
      throw new PhraseFault('Two gaps of a phrase cannot stand side by side.');
    }
    if (variant.length > MAX_WORDS) throw new PhraseFault(`The phrase has more than ${MAX_WORDS} words.`);
    if (variant.filter((word) => word === '..').length > MAX_GAPS) {
      throw new PhraseFault(`The phrase has more than ${MAX_GAPS} gaps.`);
    }
  }
  return { exception, variants: said };
}

/** The word sequences that a piece of a phrase stands for. */
function choicesOf(piece: string): string[][] {
  if (piece === '..') return [['..']];
  const isOptional = piece.startsWith('[');
  const isGroup = isOptional || piece.startsWith('(');
  const choices = (isGroup ? piece.slice(1, piece.length - 1) : piece).split('|').map((choice) =>
    choice.split(/\s+/u).flatMap(wordsOf),
  );
  return isOptional ? [...choices, []] : choices;
}

function wordsOf(written: string): string[] {
  if (written === NUMBER) return [NUMBER];
  const words = foldWord(written).split(/ +/u).filter((word) => word !== '');
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
  const steps: Step[] = [];
  const phrases = new PhraseTree();
  for (const { id, phrases: written } of concepts) {
    for (const phrase of written) {
      const { exception, variants } = variantsOf(phrase);
      for (const variant of variants) phrases.add(variant, exception ? -1 - id : id, words, steps);
    }
  }
  const negators = [negations.before, negations.after].map(
    (list) => new Set(list.flatMap((word) => choicesOf(word)).map((choice) => words.symbol(choice.join('')))),
  );

  const { sets, setAtEnd, setBeyond } = words.collectSets();
  const symbols = words.symbols;
  const first = new Set(steps.filter((step) => step.node === 0).map((step) => step.symbol));
  const begins = new Uint8Array(sets.length);
  const negates = new Uint8Array(sets.length);
  sets.forEach((set, index) => {
    for (const symbol of set) {
      if (first.has(symbol)) begins[index] = 1;
      negators.forEach((list, side) => {
        if (list.has(symbol)) negates[index] = (negates[index] ?? 0) | (1 << side);
      });
    }
  });

  const { letters, alphabet, width } = words.table();
  return {
    letters, alphabet, width, setAtEnd, setBeyond, sets, begins, negates, symbols,
    steps: new Map(steps.map(({ node, symbol, next }) => [node * symbols + symbol, next])),
    gaps: Int32Array.from(phrases.gaps),
    ends: phrases.ends.map((ends) => (ends.length === 0 ? null : Int32Array.from(ends))),
  };
}

interface Step {
  readonly node: number;
  readonly symbol: number;
  readonly next: number;
}

class PhraseTree {
  readonly gaps: number[] = [0];
  readonly ends: number[][] = [[]];
  readonly #children: Map<number, number>[] = [new Map()];

  add(variant: Variant, end: number, words: WordTree, steps: Step[]): void {
    let node = 0;
    for (const word of variant) {
      if (word === '..') {
        const behind = this.gaps[node] || this.#grow();
        this.gaps[node] = behind;
        node = behind;
      } else {
        const symbol = words.symbol(word);
        let next = this.#children[node]?.get(symbol);
        if (next === undefined) {
          next = this.#grow();
          this.#children[node]?.set(symbol, next);
          steps.push({ node, symbol, next });
        }
        node = next;
      }
    }
    const ends = this.ends[node];
    if (ends !== undefined && !ends.includes(end)) ends.push(end);
  }

  #grow(): number {
    this.gaps.push(0);
    this.ends.push([]);
    return this.#children.push(new Map()) - 1;
  }
}

/** All words of all phrases by their letters. */
class WordTree {
  symbols = 0;
  readonly #children: Map<number, number>[] = [new Map()];
  readonly #exact: (number | null)[] = [null];
  readonly #prefix: (number | null)[] = [null];
  #number: number | null = null;

  /** The number of a word or prefix, the same each time. */
  symbol(word: string): number {
    if (word === NUMBER) {
      this.#number ??= this.#addNumber();
      return this.#number;
    }
    const isPrefix = word.endsWith('*');
    const node = this.#reach(isPrefix ? word.slice(0, -1) : word);
    const symbols = isPrefix ? this.#prefix : this.#exact;
    const known = symbols[node] ?? null;
    if (known !== null) return known;
    symbols[node] = this.symbols;
    this.symbols += 1;
    return this.symbols - 1;
  }

  #addNumber(): number {
    for (let digit = 0; digit < 10; digit += 1) this.#reach(String(digit));
    this.symbols += 1;
    return this.symbols - 1;
  }

  #reach(word: string): number {
    let node = 0;
    for (let at = 0; at < word.length; at += 1) {
      const unit = word.charCodeAt(at);
      let next = this.#children[node]?.get(unit);
      if (next === undefined) {
        next = this.#children.push(new Map()) - 1;
        this.#exact.push(null);
        this.#prefix.push(null);
        this.#children[node]?.set(unit, next);
      }
      node = next;
    }
    return node;
  }

  collectSets(): { sets: Int32Array[]; setAtEnd: Int32Array; setBeyond: Int32Array } {
    const sets: Int32Array[] = [new Int32Array(0)];
    const known = new Map<string, number>([['', 0]]);
    const numberOf = (symbols: readonly number[]): number => {
      const key = symbols.join();
      const found = known.get(key);
      if (found !== undefined) return found;
      known.set(key, sets.length);
      return sets.push(Int32Array.from(symbols)) - 1;
    };
    const setAtEnd = new Int32Array(this.#children.length);
    const setBeyond = new Int32Array(this.#children.length);
    const open: { node: number; prefixes: readonly number[] }[] = [{ node: 0, prefixes: [] }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const own = this.#prefix[next.node] ?? null;
      const prefixes = own === null ? next.prefixes : [...next.prefixes, own];
      const exact = this.#exact[next.node] ?? null;
      setBeyond[next.node] = numberOf(prefixes);
      setAtEnd[next.node] = numberOf(exact === null ? prefixes : [...prefixes, exact]);
      for (const [unit, node] of this.#children[next.node] ?? []) {
        const isNumber = this.#number !== null && next.node === 0 && unit >= 0x30 && unit <= 0x39;
        open.push({ node, prefixes: isNumber ? [...prefixes, this.#number ?? 0] : prefixes });
      }
    }
    return { sets, setAtEnd, setBeyond };
  }

  table(): { letters: Uint16Array | Uint32Array; alphabet: Uint16Array; width: number } {
    const classes = new Map<number, number>();
    for (const children of this.#children) {
      for (const unit of children.keys()) if (!classes.has(unit)) classes.set(unit, classes.size + 1);
    }
    const width = classes.size + 1;
    const nodes = this.#children.length;
    const letters = nodes < 0x10000 ? new Uint16Array(nodes * width) : new Uint32Array(nodes * width);
    this.#children.forEach((children, node) => {
      for (const [unit, next] of children) letters[node * width + (classes.get(unit) ?? 0)] = next;
    });
    const alphabet = new Uint16Array(0x10000);
    for (let unit = 0; unit < 0x10000; unit += 1) {
      if (KIND[unit] === LETTER) alphabet[unit] = classes.get(FOLD[unit] ?? unit) ?? 0;
    }
    return { letters, alphabet, width };
  }
}
