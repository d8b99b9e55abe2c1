import type { ArchiveEntry } from './read-directory.ts';

export type Match =
  | { readonly is: 'found'; readonly entry: ArchiveEntry }
  /** Another row has named it. */
  | { readonly is: 'taken' }
  /** `nearest` is the name of an entry that differs in letter case alone. */
  | { readonly is: 'missing'; readonly nearest: string | null };

/**
 * The entries of an archive by the names that rows give them: exact after NFC, letter case included
 * (external-interface.md, "Batch CSV and ZIP rules" 3). A name in an old code page answers to both of its readings.
 */
export class EntryNames {
  readonly #entries: readonly ArchiveEntry[];
  readonly #byName = new Map<string, number>();
  readonly #taken: Uint8Array;
  #byFoldedName: Map<string, string> | null = null;

  constructor(entries: readonly ArchiveEntry[]) {
    this.#entries = entries;
    this.#taken = new Uint8Array(entries.length);
    for (const [index, { names }] of entries.entries()) {
      // A likelier reading of another entry stands.
      for (const name of names) if (!this.#byName.has(name)) this.#byName.set(name, index);
    }
  }

  /** Gives every entry once. */
  take(fileName: string): Match {
    const name = fileName.normalize('NFC');
    const index = this.#byName.get(name);
    const entry = index === undefined ? undefined : this.#entries[index];
    if (index === undefined || entry === undefined) return { is: 'missing', nearest: this.#nearest(name) };
    if (this.#taken[index] === 1) return { is: 'taken' };
    this.#taken[index] = 1;
    return { is: 'found', entry };
  }

  /** Names of the entries that nobody took, in the order of the directory. */
  rest(): string[] {
    return this.#entries.filter((_, index) => this.#taken[index] === 0).map(({ names }) => names[0]);
  }

  #nearest(name: string): string | null {
    this.#byFoldedName ??= new Map(Array.from(this.#byName.keys(), (each) => [fold(each), each]));
    return this.#byFoldedName.get(fold(name)) ?? null;
  }
}

function fold(name: string): string {
  return name.toLowerCase().normalize('NFC');
}
