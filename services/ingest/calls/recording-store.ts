import { AudioFormat, type Role } from '@call-analysis/events';
import { type Database, type Sql, valuesOf } from '@call-analysis/postgres';
import type { EntryRecord } from '@call-analysis/zip';
import { z } from 'zod';

/** A recording that is stored and can be transcribed. */
export const StoredRecording = z.object({
  object_key: z.string().min(1),
  format: AudioFormat,
  codec: z.string().min(1),
  channels: z.int().min(1),
  /** Hertz. */
  sample_rate: z.int().min(1),
  /** Seconds. */
  duration: z.number().min(0),
  size_bytes: z.int().min(0),
  sha256: z.instanceof(Buffer).refine((sum) => sum.length === 32),
});
export type StoredRecording = Readonly<z.infer<typeof StoredRecording>>;

const STORED = StoredRecording.keyof().options;

/** A recording as the client described it, and what its bytes contain: null until they are stored. */
export interface Recording {
  readonly file_name: string;
  readonly left: Role;
  readonly right: Role;
  readonly priority: number;
  /** Null for a single upload. */
  readonly entry: EntryRecord | null;
  readonly stored: StoredRecording | null;
}

/** The ZIP of a batch's recordings. */
export interface Archive {
  readonly key: string;
  readonly bytes: number;
}

/** A call whose recording is still in its archive. */
export interface ArchivedCall {
  readonly uuid: string;
  readonly attempt: number;
  readonly file_name: string;
  readonly entry: EntryRecord;
  readonly priority: number;
}

type Row = Omit<Recording, 'stored'> & { [Name in keyof StoredRecording]: StoredRecording[Name] | null };

/** The recordings of the calls. Every statement is limited to one firm. */
export function recordings(db: Database) {
  return {
    /** Null when the call has none. */
    async read(firmUuid: string, callUuid: string, sql: Sql = db): Promise<Recording | null> {
      const [row] = await sql.query<Row>(
        `SELECT file_name, left_role AS left, right_role AS right, turn AS priority, entry, ${STORED.join(', ')}
         FROM recording WHERE firm_uuid = $1 AND call_uuid = $2`,
        [firmUuid, callUuid],
      );
      if (row === undefined) return null;
      const { file_name, left, right, priority, entry, ...stored } = row;
      const isStored = stored.object_key !== null;
      return { file_name, left, right, priority, entry, stored: isStored ? (stored as StoredRecording) : null };
    },

    /** Adds the recording of a single upload. */
    async add(
      tx: Sql,
      { firmUuid, callUuid, at }: { firmUuid: string; callUuid: string; at: Date },
      described: Pick<Recording, 'file_name' | 'left' | 'right'>,
      stored: StoredRecording,
    ): Promise<void> {
      await tx.query(
        `INSERT INTO recording (firm_uuid, call_uuid, file_name, left_role, right_role, ${STORED.join(', ')}, stored_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
        [firmUuid, callUuid, ...valuesOf(described, 'file_name', 'left', 'right'), ...valuesOf(stored, ...STORED), at],
      );
    },

    async swapRoles(tx: Sql, firmUuid: string, callUuid: string): Promise<void> {
      await tx.query(
        'UPDATE recording SET left_role = right_role, right_role = left_role WHERE firm_uuid = $1 AND call_uuid = $2',
        [firmUuid, callUuid],
      );
    },

    async setStored(
      tx: Sql,
      { firmUuid, callUuid, at }: { firmUuid: string; callUuid: string; at: Date },
      stored: StoredRecording,
    ): Promise<void> {
      await tx.query(
        `UPDATE recording SET object_key = $3, format = $4, codec = $5, channels = $6, sample_rate = $7, duration = $8,
           size_bytes = $9, sha256 = $10, stored_at = $11
         WHERE firm_uuid = $1 AND call_uuid = $2`,
        [firmUuid, callUuid, ...valuesOf(stored, ...STORED), at],
      );
    },
  };
}

export type Recordings = ReturnType<typeof recordings>;
