/**
 * Finds entries of one name, compared after NFC and lower case (api.md, section 5). Of names in an old code page the
 * CP866 readings are compared with each other: by CP437 the Russian letters А and З would be twins (Ç and ç).
 */
export class Twins {
  readonly #plain = new Set<string>();
  readonly #cp866 = new Set<string>();
  readonly #cp437 = new Set<string>();

  /** What is wrong with the next entry, or null. */
  meet([first, second]: readonly [string, ...string[]]): string | null {
    const name = fold(first);
    const other = second === undefined ? null : fold(second);
    const isTwin =
      other === null
        ? this.#plain.has(name) || this.#cp866.has(name) || this.#cp437.has(name)
        : this.#plain.has(name) || this.#plain.has(other) || this.#cp866.has(name);
    if (other === null) this.#plain.add(name);
    else {
      this.#cp866.add(name);
      this.#cp437.add(other);
    }
    return isTwin ? 'has the name of another entry (letter case does not tell them apart)' : null;
  }
}

function fold(name: string): string {
  return name.toLowerCase().normalize('NFC');
}
