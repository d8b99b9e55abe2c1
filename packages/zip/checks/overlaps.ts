import type { EntryFaults } from '../faults.ts';

interface Extent {
  readonly name: string;
  readonly start: number;
  /** Exclusive; the least that the entry takes up. */
  readonly end: number;
}

/** Where the entries lie in the file. Bytes that serve two entries are how a small archive expands without end. */
export class Extents {
  readonly #extents: Extent[] = [];
  #sorted = true;

  add(name: string, start: number, end: number): void {
    const last = this.#extents.at(-1);
    if (last !== undefined && last.start > start) this.#sorted = false;
    this.#extents.push({ name, start, end });
  }

  /** Adds an entry that overlaps one before it or the directory, and the first when it is not at the beginning. */
  judge(directoryStart: number, faults: EntryFaults): void {
    if (!this.#sorted) this.#extents.sort((left, right) => left.start - right.start);
    const first = this.#extents[0];
    const firstStart = first?.start ?? directoryStart;
    if (firstStart > 0 && first === undefined) faults.add('', `${firstStart} bytes stand before its directory`);
    else if (firstStart > 0) faults.add(first!.name, `is the first entry, and ${firstStart} bytes stand before it`);
    let reach: Extent | null = null;
    for (const extent of this.#extents) {
      if (reach !== null && extent.start < reach.end)
        faults.add(extent.name, `overlaps with ${JSON.stringify(reach.name.slice(0, 255))}`);
      if (extent.end > directoryStart) faults.add(extent.name, 'overlaps with the directory of the archive');
      if (reach === null || extent.end > reach.end) reach = extent;
    }
  }
}
