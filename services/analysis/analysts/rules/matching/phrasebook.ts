import { FOLD, KIND, LETTER } from '../../../scorecards/characters.ts';
import {
  checkVariant,
  forEachVariant,
  GAP,
  MAX_VARIANTS,
  NUMBER,
  parsePhrase,
  parseWords,
  type Variant,
} from '../../../scorecards/phrase-syntax.ts';

/** Phrases of many concepts, compiled into tries so that one pass over a text finds all of them. */
export interface Phrasebook {
  /** Transitions of the trie of words: `letters[node * width + alphabet[unit]]`, or 0 where there is none. */
  readonly letters: Uint16Array | Uint32Array;
  readonly alphabet: Uint16Array;
  readonly width: number;
  /** The word set of a word that ends at a node. */
  readonly setAtEnd: Int32Array;
  /** The word set of a word that continues where the trie has no further node. */
  readonly setBeyond: Int32Array;
  /** The symbols in each word set. A symbol is a word or prefix of a phrase. Set 0 is empty. */
  readonly sets: readonly Int32Array[];
  /** Whether a phrase can begin with a word of each set. */
  readonly begins: Uint8Array;
  /** Whether the words of each set are negations: bit 1 negates the words after it, bit 2 the words before it. */
  readonly negates: Uint8Array;
  /** The transitions of the trie of phrases, for `nextNode`. Node 0 is the root. */
  readonly steps: ReadonlyMap<number, number>;
  readonly symbols: number;
  /** The node after a gap that follows each node, or 0 where no gap follows. */
  readonly gaps: Int32Array;
  /** The index in `endings` for each node. Index 0 means that no phrase ends there. */
  readonly ends: Int32Array;
  /** The concepts whose phrases end at the same nodes. An exception of a concept is `-1 - concept`. */
  readonly endings: readonly (readonly number[])[];
}

export interface Concept {
  readonly id: number;
  readonly phrases: readonly string[];
}

/** Words that negate the words after (or before) them in the same clause. */
export interface Negations {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Throws when a phrase is not valid. Check a firm's phrases with `phraseFault` first. */
export function compilePhrasebook(
  concepts: readonly Concept[],
  negations: Negations = { before: [], after: [] },
): Phrasebook {
  const words = new WordTrie();
  const parsed = concepts.flatMap(({ id, phrases }) =>
    phrases.map((phrase) => ({ id, ...parsePhrase(phrase, MAX_VARIANTS) })),
  );
  for (const { pieces } of parsed) {
    for (const word of pieces.flat(2)) if (word !== GAP) words.symbol(word);
  }
  const negators = [negations.before, negations.after].map(
    (list) => new Set(list.flatMap(parseWords).map((word) => words.symbol(word))),
  );

  // From here on there are no new symbols.
  const { symbols } = words;
  const steps = new Map<number, number>();
  const gaps: number[] = [0];
  const ends: number[] = [0];
  const endings = new Lists();
  const addNode = (): number => {
    gaps.push(0);
    return ends.push(0) - 1;
  };
  const add = (variant: Variant, end: number): void => {
    checkVariant(variant);
    let node = 0;
    for (const word of variant) {
      if (word === GAP) {
        const afterGap = gaps[node] || addNode();
        gaps[node] = afterGap;
        node = afterGap;
      } else {
        const step = node * symbols + words.symbol(word);
        const next = steps.get(step) ?? addNode();
        steps.set(step, next);
        node = next;
      }
    }
    ends[node] = endings.extended(ends[node] ?? 0, end);
  };
  for (const { id, isException, pieces } of parsed) {
    forEachVariant(pieces, (variant) => add(variant, isException ? -1 - id : id));
  }

  const { sets, setAtEnd, setBeyond } = words.collectSets();
  const begins = Uint8Array.from(sets, (set) => (set.some((symbol) => steps.has(symbol)) ? 1 : 0));
  const negates = Uint8Array.from(sets, (set) =>
    negators.reduce((bits, list, side) => (set.some((symbol) => list.has(symbol)) ? bits | (1 << side) : bits), 0),
  );
  return {
    ...words.transitions(),
    setAtEnd,
    setBeyond,
    sets,
    begins,
    negates,
    steps,
    symbols,
    ends: Int32Array.from(ends),
    endings: endings.lists,
    gaps: Int32Array.from(gaps),
  };
}

/** Lists of numbers, each list once. List 0 is empty. */
class Lists {
  readonly lists: number[][] = [[]];
  /** The index of a list by that of the list without its last number, and this number. */
  readonly #longer = new Map<string, number>();

  /** The index of a list with one more number, unless it has that already. */
  extended(list: number, added: number | undefined): number {
    const numbers = this.lists[list] ?? [];
    if (added === undefined || numbers.includes(added)) return list;
    const key = `${list} ${added}`;
    const known = this.#longer.get(key);
    if (known !== undefined) return known;
    const index = this.lists.push([...numbers, added]) - 1;
    this.#longer.set(key, index);
    return index;
  }
}

/** A trie of the words and prefixes in all phrases, letter by letter. A node has a greater number than its parent. */
class WordTrie {
  symbols = 0;
  readonly #next = new Map<number, number>();
  readonly #parents: number[] = [0];
  readonly #units: number[] = [0];
  readonly #exact = new Map<number, number>();
  readonly #prefix = new Map<number, number>();
  readonly #known = new Map<string, number>();

  /** The symbol of a word or prefix. The first call for a word adds it. */
  symbol(word: string): number {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const symbol = this.symbols;
    this.symbols += 1;
    this.#known.set(word, symbol);
    if (word === NUMBER) for (let digit = 0; digit < 10; digit += 1) this.#addPath(String(digit));
    else if (word.endsWith('*')) this.#prefix.set(this.#addPath(word.slice(0, -1)), symbol);
    else this.#exact.set(this.#addPath(word), symbol);
    return symbol;
  }

  #addPath(word: string): number {
    let node = 0;
    for (let index = 0; index < word.length; index += 1) {
      const unit = word.charCodeAt(index);
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
    const sets = new Lists();
    const number = this.#known.get(NUMBER);
    const setAtEnd = new Int32Array(this.#units.length);
    const setBeyond = new Int32Array(this.#units.length);
    for (let node = 1; node < this.#units.length; node += 1) {
      const parent = this.#parents[node] ?? 0;
      const unit = this.#units[node] ?? 0;
      const isDigit = parent === 0 && unit >= 0x30 && unit <= 0x39;
      const inherited = sets.extended(setBeyond[parent] ?? 0, isDigit ? number : undefined);
      setBeyond[node] = sets.extended(inherited, this.#prefix.get(node));
      setAtEnd[node] = sets.extended(setBeyond[node] ?? 0, this.#exact.get(node));
    }
    return { sets: sets.lists.map((symbols) => Int32Array.from(symbols)), setAtEnd, setBeyond };
  }

  transitions(): Pick<Phrasebook, 'letters' | 'alphabet' | 'width'> {
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

/** The node to which a symbol leads in the trie of phrases. */
export function nextNode({ steps, symbols }: Phrasebook, node: number, symbol: number): number | undefined {
  return steps.get(node * symbols + symbol);
}
