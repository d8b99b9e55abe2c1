import { Fault } from '@call-analysis/fault';
import type { EntryFault } from '../faults.ts';
import { type Archive, type ArchiveLimits, readArchive } from '../read-directory.ts';
import type { ArchiveSource } from '../tail.ts';

/** Bytes as a source that counts what is read and refuses to be read beyond its ends. */
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

  async read(start: number, end: number): Promise<Uint8Array> {
    if (!(start >= 0 && start <= end && end <= this.sizeBytes))
      throw new Error(`read from ${start} to ${end} of ${this.sizeBytes}`);
    this.readBytes += end - start;
    this.lowest = Math.min(this.lowest, start);
    return this.#bytes.slice(start, end);
  }
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly entries: readonly EntryFault[];
}

/** The archive, or how it was refused; any error that is no answer of 400 is thrown on. */
export async function judge(bytes: Uint8Array, limits?: ArchiveLimits): Promise<Archive | Refusal> {
  try {
    return await readArchive(new WatchedSource(bytes), limits);
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    return { code: error.code, message: error.message, entries: (error.details?.['entries'] ?? []) as EntryFault[] };
  }
}

export function namesOf(verdict: Archive | Refusal): string[] {
  if ('code' in verdict) throw new Error(`refused: ${verdict.code}: ${verdict.message}`);
  return verdict.entries.map(({ names }) => names[0]);
}
