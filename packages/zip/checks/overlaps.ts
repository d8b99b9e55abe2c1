import type { EntryFaults } from '../faults.ts';

interface Extent {
  readonly name: string;
  readonly start: number;
  /** Exclusive. The entry reaches at least to here. */
  readonly end: number;
}

/** Finds entries that share bytes of the file: that is how a small archive expands without end. */
export class Overlaps {
  readonly #extents: Extent[] = [];
  #sorted = true;

  add(name: string, start: number, end: number): void {
    const last = this.#extents.at(-1);
    if (last !== undefined && last.start > start) this.#sorted = false;
    this.#extents.push({ name, start, end });
  }

  /** Reports entries that overlap an earlier one or the directory, and bytes that precede the first entry. */
  report(directoryStart: number, faults: EntryFaults): void {
    if (!this.#sorted) this.#extents.sort((left, right) => left.start - right.start);
    const first = this.#extents[0];
    const firstStart = first?.start ?? directoryStart;
    if (firstStart > 0 && first === undefined) faults.add('', `${firstStart} bytes precede its directory`);
    else if (firstStart > 0) faults.add(first!.name, `is the first entry, and ${firstStart} bytes precede it`);
    let reach: Extent | null = null;
    for (const extent of this.#extents) {
      if (reach !== null && extent.start < reach.end)
        faults.add(extent.name, `overlaps with ${JSON.stringify(reach.name.slice(0, 255))}`);
      if (extent.end > directoryStart) faults.add(extent.name, 'overlaps with the directory of the archive');
      if (reach === null || extent.end > reach.end) reach = extent;
    }
  }
}
