/**
 * Finds entries with the same name, compared in lower case after NFC (docs/api.md, "Presigned uploads"). Names in an
 * old code page are compared with each other in their CP866 readings: in CP437, the Russian letters А and З would be
 * duplicates (Ç and ç).
 */
export class DuplicateNames {
  readonly #plain = new Set<string>();
  readonly #cp866 = new Set<string>();
  readonly #cp437 = new Set<string>();

  /** The fault of the next entry, or null. */
  check([first, second]: readonly [string, ...string[]]): string | null {
    const name = fold(first);
    const other = second === undefined ? null : fold(second);
    const isDuplicate =
      other === null
        ? this.#plain.has(name) || this.#cp866.has(name) || this.#cp437.has(name)
        : this.#plain.has(name) || this.#plain.has(other) || this.#cp866.has(name);
    if (other === null) this.#plain.add(name);
    else {
      this.#cp866.add(name);
      this.#cp437.add(other);
    }
    return isDuplicate ? 'has the name of another entry (upper and lower case are the same)' : null;
  }
}

/** The name is in NFC, and lower case alone changes that only where there are combining marks. */
function fold(name: string): string {
  const lower = name.toLowerCase();
  return lower !== name && /\p{M}/u.test(lower) ? lower.normalize('NFC') : lower;
}
