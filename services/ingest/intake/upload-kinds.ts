import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type Archive, EntryNames, type EntryRecord } from '@call-analysis/zip';
import type { Limits } from '../limits.ts';
import type { Archive as StoredArchive } from '../store/index.ts';
import { type Copy, recordingCopies, transcriptCopies } from './copy/copies.ts';
import { MissingColumns } from './csv/header.ts';
import type { Column, CsvFile, RawRecord } from './csv/reader.ts';
import { archiveRule } from './rows/archive-rule.ts';
import { type AudioRecord, audioColumns, checkAudioRow } from './rows/audio-record.ts';
import type { CallRecord, CheckedRow } from './rows/call-record.ts';
import { checkTranscriptRow, type TranscriptRecord, transcriptColumns } from './rows/transcript-record.ts';
import { readStoredArchive } from './stored-archive.ts';

/** What uploads of recordings and of transcripts differ in. */
export interface UploadKind<Record extends CallRecord> {
  readonly name: 'audio' | 'transcription';
  readonly columns: readonly Column[];
  /** What a CSV may be that is not of this kind, and what to do then. */
  readonly other: { readonly columns: readonly Column[]; readonly advice: string };
  readonly copies: readonly Copy<Record>[];
  /** The check for a file whose header is good. It may read on in the file when there is nothing to check rows by. */
  begin(file: CsvFile): Promise<FileCheck<Record>>;
  /** Characters that there are to announce of a call. */
  weight(record: Record): number;
}

export interface FileCheck<Record extends CallRecord> {
  check(raw: RawRecord): CheckedRow<Record>;
  /** Names of files that no row names, once all rows have been checked. */
  unnamed(): readonly string[];
}

export function transcriptUpload(segmentTypes: ReadonlySet<string>, limits: Limits): UploadKind<TranscriptRecord> {
  const rules = { segmentTypes, maxTextBytes: limits.transcriptBytes, maxValueChars: limits.valueChars };
  return {
    name: 'transcription',
    columns: transcriptColumns,
    other: {
      columns: audioColumns,
      advice: 'This looks like the CSV of recordings: begin the upload anew with audios_filename.',
    },
    copies: transcriptCopies,
    begin: async (file) => ({ check: checkTranscriptRow(file, rules), unnamed: () => [] }),
    weight: ({ anonymizedText }) => anonymizedText.length,
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
      advice: 'This looks like the CSV of transcripts: begin the upload anew without audios_filename.',
    },
    copies: recordingCopies,
    async begin(file) {
      let archive: Archive;
      try {
        archive = await readStoredArchive(objects, stored, limits.zipBytes);
      } catch (error) {
        // What is wrong with the CSV as a file comes first, and may stand in its last line (api.md, section 5).
        if (error instanceof Fault && error.kind === 'invalid') await readToEnd(file);
        throw error;
      }
      const names = new EntryNames(archive.entries);
      const rules = { segmentTypes, maxValueChars: limits.valueChars };
      return { check: checkAudioRow(file, rules, archiveRule(names)), unnamed: () => names.rest() };
    },
    weight: () => 0,
  };
}

/** Of a header that is one of the other kind says so: whoever began the wrong upload has no columns to add. */
export function explained(error: unknown, { other }: Pick<UploadKind<CallRecord>, 'other'>): unknown {
  return error instanceof MissingColumns && error.suits(other.columns) ? error.advising(other.advice) : error;
}

async function readToEnd({ batches }: CsvFile): Promise<void> {
  const iterator = batches[Symbol.asyncIterator]();
  while ((await iterator.next()).done !== true);
}
