import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type Archive, EntryNames, type EntryRecord, readArchive, storedArchive } from '@call-analysis/zip';
import type { Archive as StoredArchive } from '../calls/recording-store.ts';
import type { Limits } from '../limits.ts';
import { type CopyTable, recordingTables, transcriptTables } from './copy/tables.ts';
import { MissingColumns } from './csv/header.ts';
import type { Column, CsvFile, RawRecord } from './csv/reader.ts';
import {
  audioColumns,
  type AudioRecord,
  type CallRecord,
  transcriptColumns,
  type TranscriptRecord,
} from './rows/call-fields.ts';
import { checkAudioRow, type CheckedRow, checkTranscriptRow, type FileRule } from './rows/check-row.ts';
import { checkExtension } from './rows/field-rules.ts';
import type { ValueFault } from './rows/row-fault.ts';

/**
 * Creates the rule that finds the entry that a row names. The entry of a rejected row counts as named, too, so that it
 * is not reported as a file without a row.
 */
export function archiveRule(names: EntryNames): FileRule<EntryRecord> {
  return (name, untrimmed) => {
    const trimmed = names.take(name);
    // The name of an entry may begin or end in white space. Then only the untrimmed value matches.
    const taken = trimmed.is === 'missing' && untrimmed !== name ? names.take(untrimmed) : trimmed;
    const extensionFault = checkExtension(name);
    if (extensionFault !== null) return extensionFault;
    if (taken.is === 'found') return taken.entry.record;
    return taken.is === 'taken' ? listedTwice : notInArchive(trimmed.is === 'missing' ? trimmed.nearest : null);
  };
}

const listedTwice: ValueFault = {
  fault: 'FILE_LISTED_TWICE',
  message: 'An earlier row names the same file. Every call needs its own recording.',
};

function notInArchive(nearest: string | null): ValueFault {
  const hint =
    nearest === null
      ? 'Add it to the root of the ZIP, or correct the name. Names must match exactly, including the extension.'
      : `It has ${nearest}, which differs only in upper and lower case. Write exactly that name.`;
  return { fault: 'FILE_NOT_IN_ARCHIVE', message: `The archive has no file of this name. ${hint}` };
}

/** How uploads of recordings and uploads of transcripts differ. */
export interface UploadKind<Record extends CallRecord> {
  readonly name: 'audio' | 'transcription';
  readonly columns: readonly Column[];
  /** The kind that the CSV may be instead, and the advice for that case. */
  readonly other: { readonly columns: readonly Column[]; readonly advice: string };
  readonly tables: readonly CopyTable<Record>[];
  /** Creates the check for the rows of a file whose header is valid. */
  checkOf(file: CsvFile): Promise<FileCheck<Record>>;
  /** How much there will be to announce of a call, in characters. */
  announcedChars(record: Record): number;
}

export interface FileCheck<Record extends CallRecord> {
  check(raw: RawRecord): CheckedRow<Record>;
  /** The files of the archive that no row names. Call after all rows have been checked. */
  unnamedFiles(): readonly string[];
}

export function transcriptUpload(segmentTypes: ReadonlySet<string>, limits: Limits): UploadKind<TranscriptRecord> {
  const rules = { segmentTypes, maxTextBytes: limits.transcriptBytes, maxValueChars: limits.valueChars };
  return {
    name: 'transcription',
    columns: transcriptColumns,
    other: {
      columns: audioColumns,
      advice: 'This looks like the CSV of recordings: start a new upload with audios_filename.',
    },
    tables: transcriptTables,
    checkOf: async (file) => ({ check: checkTranscriptRow(file, rules), unnamedFiles: () => [] }),
    announcedChars: ({ anonymizedText }) => anonymizedText.length,
  };
}

export function recordingUpload(
  objects: Objects,
  stored: StoredArchive,
  segmentTypes: ReadonlySet<string>,
  limits: Limits,
): UploadKind<AudioRecord<EntryRecord>> {
  return {
    name: 'audio',
    columns: audioColumns,
    other: {
      columns: transcriptColumns,
      advice: 'This looks like the CSV of transcripts: start a new upload without audios_filename.',
    },
    tables: recordingTables,
    async checkOf(file) {
      let archive: Archive;
      try {
        archive = await readStoredArchive(objects, stored, limits.zipBytes);
      } catch (error) {
        // Faults of the CSV as a file come before those of the ZIP (docs/api.md, "Presigned uploads"), and may be in
        // its last line.
        if (error instanceof Fault && error.kind === 'invalid') for await (const _ of file.batches);
        throw error;
      }
      const names = new EntryNames(archive.entries);
      const rules = { segmentTypes, maxValueChars: limits.valueChars };
      return { check: checkAudioRow(file, rules, archiveRule(names)), unnamedFiles: () => names.rest() };
    },
    announcedChars: () => 0,
  };
}

/**
 * If the header belongs to the other kind, the fault says so: the user started the wrong upload, so adding columns
 * would not help.
 */
export function withHint(error: unknown, { other }: Pick<UploadKind<CallRecord>, 'other'>): unknown {
  return error instanceof MissingColumns && error.suits(other.columns) ? error.advising(other.advice) : error;
}

/** Checks an archive by its directory alone. Fault FILE_TOO_LARGE, and those of `readArchive`. */
async function readStoredArchive(objects: Objects, { key, bytes }: StoredArchive, maxBytes: number): Promise<Archive> {
  if (bytes > maxBytes) {
    const message = `The ZIP has ${bytes} bytes. The limit is ${maxBytes}. Split it, and its CSV with it.`;
    throw new Fault('invalid', 'FILE_TOO_LARGE', message, { details: { size_bytes: bytes, limit_bytes: maxBytes } });
  }
  return readArchive(storedArchive(objects, key, bytes));
}
