import { Readable } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import type { EntryFault } from '../faults.ts';
import { type Archive, type ArchiveLimits, readArchive } from '../read-archive.ts';
import type { ArchiveSource } from '../source.ts';

/** An archive in memory that counts the bytes read and rejects reads beyond its ends. */
export class WatchedSource implements ArchiveSource {
  readonly #bytes: Uint8Array;
  readBytes = 0;
  lowest = Infinity;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  async open(start: number, end: number): Promise<Readable> {
    if (!(start >= 0 && start <= end && end <= this.sizeBytes))
      throw new Error(`read from ${start} to ${end} of ${this.sizeBytes}`);
    this.readBytes += end - start;
    this.lowest = Math.min(this.lowest, start);
    return Readable.from([Buffer.from(this.#bytes.slice(start, end))], { objectMode: false });
  }
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly entries: readonly EntryFault[];
}

/** The archive, or the fault that it is refused with. Other errors are rethrown. */
export async function outcomeOf(bytes: Uint8Array, limits?: ArchiveLimits): Promise<Archive | Refusal> {
  try {
    return await readArchive(new WatchedSource(bytes), limits);
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    return { code: error.code, message: error.message, entries: (error.details?.['entries'] ?? []) as EntryFault[] };
  }
}

export function namesOf(outcome: Archive | Refusal): string[] {
  if ('code' in outcome) throw new Error(`refused: ${outcome.code}: ${outcome.message}`);
  return outcome.entries.map(({ names }) => names[0]);
}
