import type { ArchiveEntry } from './archive-entry.ts';

type Match =
  | { readonly is: 'found'; readonly entry: ArchiveEntry }
  /** An earlier row has named it. */
  | { readonly is: 'taken' }
  /** `nearest`: an entry whose name differs only in upper and lower case. */
  | { readonly is: 'missing'; readonly nearest: string | null };

/**
 * Finds the entries of an archive by the names in the rows of a CSV. Names must be equal after NFC, including upper and
 * lower case (docs/api.md, "Presigned uploads"). A name in an old code page is found by either of its readings.
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
      // An earlier reading takes precedence.
      for (const name of names) if (!this.#byName.has(name)) this.#byName.set(name, index);
    }
  }

  /** Returns every entry once. */
  take(fileName: string): Match {
    const name = fileName.normalize('NFC');
    const index = this.#byName.get(name);
    const entry = index === undefined ? undefined : this.#entries[index];
    if (index === undefined || entry === undefined) return { is: 'missing', nearest: this.#nearest(name) };
    if (this.#taken[index] === 1) return { is: 'taken' };
    this.#taken[index] = 1;
    return { is: 'found', entry };
  }

  /** The names of the entries that were not taken, in the order of the directory. */
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
