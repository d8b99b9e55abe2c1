/** Numbers that depend on the seed alone. Each use has a generator of its own, so that one does not disturb another. */
export interface Random {
  /** From 0 to below `below`. */
  integer(below: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32. `use` distinguishes the generators of one seed. */
export function randomOf(seed: number, use: string): Random {
  let state = seed | 0;
  for (const letter of use) state = Math.imul(state ^ letter.codePointAt(0)!, 0x9e3779b1);
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const integer = (below: number) => Math.floor(next() * below);
  return { integer, pick: (items) => items[integer(items.length)]! };
}
