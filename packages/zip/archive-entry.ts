import type { AudioExtractionRequested, BodyOf } from '@call-analysis/events';

/** An entry as the directory describes it. The archive need not be read again to extract it. */
export type EntryRecord = BodyOf<typeof AudioExtractionRequested>['entry'];

export interface ArchiveEntry {
  /** All readings of the name after NFC, the likelier one first: one reading, or those in CP866 and CP437. */
  readonly names: readonly [string, ...string[]];
  readonly record: EntryRecord;
}
