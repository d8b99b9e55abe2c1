import type { Dated } from '@call-analysis/api/fields';
import type { BatchItem } from '@call-analysis/api/uploads';
import { notFound } from '@call-analysis/fault';
import { type Page, readPage, type Sql, valuesOf } from '@call-analysis/postgres';
import type { z } from 'zod';
import { UNFINISHED, UNFINISHED_SQL } from '../calls/call-row.ts';
import type { Archive } from '../calls/recording-store.ts';
import type { Batch as BatchRow } from '../generated/client.ts';
import type { IngestPrisma } from '../prisma.ts';

export type Batch = Readonly<Omit<BatchRow, 'archiveBytes' | 'finishPublished'>> & {
  readonly archiveBytes: number | null;
};

/** The fields that announcing its calls needs. */
export type AnnouncedBatch = Pick<Batch, 'uuid' | 'kind' | 'archiveKey' | 'archiveBytes'>;

/** A batch that is not finished, as far as finding its calls needs it. */
export type UnfinishedBatch = Pick<Batch, 'uuid' | 'firmUuid' | 'firstCall' | 'lastCall'>;

/** A batch and how far its calls are, without erased ones. What is known of its upload is null once that is removed. */
export type BatchProgress = Dated<z.output<typeof BatchItem>, 'created_at' | 'finished_at'>;

/**
 * From this many calls on, counting a batch takes several milliseconds, and clients that wait for its end poll often.
 */
const LARGE_BATCH = 1_000;
/** Counting one large batch takes at most a tenth of a connection: its last counts are the answer meanwhile. */
const COUNTED_AGAIN_AFTER = 9;
const OLDEST_COUNTS_MS = 2_000;
const REMEMBERED_BATCHES = 100;

/** The last part of an object key is the name of the uploaded file. Of a rejected CSV, the gateway makes the URL for its caller. */
const PROGRESS = `SELECT batch.uuid AS batch_id, kind, batch.created_at, accepted, duplicates, rejected, by_status,
    -- Only erasure removes a call from its batch.
    accepted - present AS erased,
    CASE WHEN NOT is_running THEN greatest(batch.created_at, erased_until, ended_at) END AS finished_at,
    substring(metadata_key FROM '[^/]*$') AS file_name, substring(audio_key FROM '[^/]*$') AS archive_name,
    user_uuid AS uploaded_by, '/api/v1/calls/rejected/' || rejected_uuid AS rejected_csv_url
  FROM batch LEFT JOIN upload_session ON upload_session.uuid = batch.session_uuid
  CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(status, calls), '{}') AS by_status, coalesce(sum(calls), 0)::int AS present,
      coalesce(bool_or(status IN ${UNFINISHED_SQL}), false) AS is_running, max(ended_at) AS ended_at
    FROM (
      SELECT status, count(*) AS calls, max(coalesce(ended_at, updated_at)) AS ended_at
      FROM call WHERE call.firm_uuid = batch.firm_uuid AND call.uuid BETWEEN first_call AND last_call
        AND call.batch_uuid = batch.uuid
      GROUP BY status) AS of_status) AS counted
  WHERE batch.uuid = ANY($1) ORDER BY batch.created_at DESC, batch.uuid DESC`;

/** Batches. Requests of users are limited to one firm. */
export function batches(prisma: IngestPrisma, db: Sql) {
  /** Counts of large batches that have not finished. */
  const recent = new Map<string, { readonly progress: Promise<BatchProgress>; until: number }>();

  async function progressOf(batch: Batch): Promise<BatchProgress> {
    const [progress] = await db.query<BatchProgress>(PROGRESS, [[batch.uuid]]);
    return progress!;
  }

  async function progressOfLarge(batch: Batch): Promise<BatchProgress> {
    const began = performance.now();
    const known = recent.get(batch.uuid);
    if (known !== undefined && began < known.until) return known.progress;
    if (recent.size >= REMEMBERED_BATCHES) recent.clear();
    const counted = { progress: progressOf(batch), until: Infinity };
    recent.set(batch.uuid, counted);
    try {
      const progress = await counted.progress;
      const now = performance.now();
      counted.until =
        progress.finished_at === null ? now + Math.min((now - began) * COUNTED_AGAIN_AFTER, OLDEST_COUNTS_MS) : 0;
      return progress;
    } catch (error) {
      counted.until = 0;
      throw error;
    }
  }

  return {
    async ofSession(firmUuid: string, sessionUuid: string): Promise<Batch | null> {
      const found = await prisma.batch.findFirst({ where: { firmUuid, sessionUuid } });
      return found === null ? null : batchOf(found);
    },

    async add(tx: Sql, batch: Batch): Promise<void> {
      await tx.query(
        `INSERT INTO batch (uuid, session_uuid, firm_uuid, kind, accepted, duplicates, rejected, ignored_columns,
           rejected_uuid, first_call, last_call, archive_key, archive_bytes, created_at, campaign_uuid, unnamed_files,
           ended_duplicates)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
        [
          ...valuesOf(batch, 'uuid', 'sessionUuid', 'firmUuid', 'kind', 'accepted', 'duplicates', 'rejected'),
          ...valuesOf(batch, 'ignoredColumns', 'rejectedUuid', 'firstCall', 'lastCall', 'archiveKey', 'archiveBytes'),
          ...valuesOf(batch, 'createdAt', 'campaignUuid', 'unnamedFiles', 'endedDuplicates'),
        ],
      );
    },

    /** Null when the firm has no such batch. */
    async find(firmUuid: string, uuid: string): Promise<Batch | null> {
      const found = await prisma.batch.findFirst({ where: { firmUuid, uuid } });
      return found === null ? null : batchOf(found);
    },

    /** The counts of a large batch that has not finished may be up to 2 s old. */
    async get(firmUuid: string, uuid: string): Promise<BatchProgress> {
      const batch = await this.find(firmUuid, uuid);
      if (batch === null) throw notFound('batch');
      return batch.accepted < LARGE_BATCH ? progressOf(batch) : progressOfLarge(batch);
    },

    /** Newest first. */
    async list(firmUuid: string, page: Page): Promise<{ count: number; items: BatchProgress[] }> {
      const orderBy = 'created_at DESC, uuid DESC';
      const listed = { columns: 'uuid', matching: 'FROM batch WHERE firm_uuid = $1', values: [firmUuid], orderBy };
      const { count, items } = await readPage<{ uuid: string }>(db, listed, page);
      return { count, items: await db.query<BatchProgress>(PROGRESS, [items.map(({ uuid }) => uuid)]) };
    },

    /** Records that one of its calls, which had ended at that time, was erased. */
    async erased(tx: Sql, uuid: string, endedAt: Date): Promise<void> {
      await tx.query(
        'UPDATE batch SET erased_until = $2 WHERE uuid = $1 AND (erased_until IS NULL OR erased_until < $2)',
        [uuid, endedAt],
      );
    },

    /**
     * Batches of any firm for which BatchFinished was not published, in the order of uuids, beginning after `after`.
     */
    async unfinished(after: string | null, limit: number): Promise<UnfinishedBatch[]> {
      return db.query<UnfinishedBatch>(
        `SELECT uuid, firm_uuid AS "firmUuid", first_call AS "firstCall", last_call AS "lastCall" FROM batch
         WHERE NOT finish_published AND ($1::uuid IS NULL OR uuid > $1) ORDER BY uuid LIMIT $2`,
        [after, limit],
      );
    },

    /** The last call of the batch, up to `upTo`, that has not ended; null when there is none. */
    async lastUnfinishedCall({ uuid, firmUuid, firstCall }: UnfinishedBatch, upTo: string): Promise<string | null> {
      const [call] = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid BETWEEN $2 AND $3 AND batch_uuid = $4
           AND status IN ${UNFINISHED_SQL} ORDER BY uuid DESC LIMIT 1`,
        [firmUuid, firstCall, upTo, uuid],
      );
      return call?.uuid ?? null;
    },

    /**
     * Marks a batch as finished and returns the number of its calls in each status. Null when another process marked it
     * before, or when a call has not ended after all, because it was retried.
     */
    async finish(tx: Sql, { uuid, firmUuid }: UnfinishedBatch): Promise<Record<string, number> | null> {
      const marked = await tx.query(
        'UPDATE batch SET finish_published = true WHERE uuid = $1 AND NOT finish_published RETURNING 1',
        [uuid],
      );
      if (marked.length === 0) return null;
      const groups = await tx.query<{ status: string; count: number }>(
        `SELECT status, count(*)::int AS count
         FROM batch JOIN call ON call.firm_uuid = batch.firm_uuid AND call.uuid BETWEEN first_call AND last_call
           AND call.batch_uuid = batch.uuid
         WHERE batch.firm_uuid = $1 AND batch.uuid = $2 GROUP BY status`,
        [firmUuid, uuid],
      );
      if (groups.some(({ status }) => UNFINISHED.includes(status))) {
        await tx.query('UPDATE batch SET finish_published = false WHERE uuid = $1', [uuid]);
        return null;
      }
      return Object.fromEntries(groups.map(({ status, count }) => [status, count]));
    },

    /** The archive of a batch, which cannot be removed until the transaction ends. Null when it was removed. */
    async lockArchive(tx: Sql, firmUuid: string, uuid: string): Promise<Archive | null> {
      const [archive] = await tx.query<Archive>(
        `SELECT archive_key AS key, archive_bytes AS bytes FROM batch
         WHERE firm_uuid = $1 AND uuid = $2 AND archive_key IS NOT NULL FOR SHARE`,
        [firmUuid, uuid],
      );
      return archive ?? null;
    },

    async isArchiveKept(key: string): Promise<boolean> {
      return (await prisma.batch.count({ where: { archiveKey: key } })) > 0;
    },

    /** Batches that have an archive, in the order of uuids, beginning after `after`. */
    async withArchive(after: string | null, limit: number): Promise<string[]> {
      const found = await prisma.batch.findMany({
        where: { archiveKey: { not: null }, ...(after === null ? {} : { uuid: { gt: after } }) },
        orderBy: { uuid: 'asc' },
        take: limit,
        select: { uuid: true },
      });
      return found.map(({ uuid }) => uuid);
    },

    /**
     * Releases the archive of a batch and returns its key, unless a call still needs it. Then it returns null. A call
     * needs it while its recording is to be extracted, and when the extraction failed in a way that a retry may fix.
     * For batches from before `retriesAfter`, the time for such retries is over, and the calls say so.
     */
    async releaseArchive(tx: Sql, uuid: string, retriesAfter: Date): Promise<string | null> {
      // Locked first, so that the next statement sees a retry that has locked the archive.
      const [batch] = await tx.query<{ key: string }>(
        'SELECT archive_key AS key FROM batch WHERE uuid = $1 AND archive_key IS NOT NULL FOR UPDATE',
        [uuid],
      );
      if (batch === undefined) return null;
      const released = await tx.query(
        `UPDATE batch SET archive_key = NULL, archive_bytes = NULL WHERE uuid = $1 AND NOT EXISTS (
           SELECT FROM recording JOIN call ON call.firm_uuid = recording.firm_uuid AND call.uuid = recording.call_uuid
           WHERE recording.firm_uuid = batch.firm_uuid
             AND recording.call_uuid BETWEEN batch.first_call AND batch.last_call
             AND recording.object_key IS NULL AND call.batch_uuid = batch.uuid
             AND (call.status IN ${UNFINISHED_SQL}
               OR (call.status = 'failed' AND call.failure @> '{"retryable": true}' AND batch.created_at > $2)))
         RETURNING 1`,
        [uuid, retriesAfter],
      );
      if (released.length === 0) return null;
      // Whoever has locked a call may be waiting for the batch.
      await tx.query(
        `UPDATE call SET failure = failure || '{"retryable": false}' WHERE (firm_uuid, uuid) IN (
           SELECT call.firm_uuid, call.uuid FROM batch
             JOIN recording ON recording.firm_uuid = batch.firm_uuid AND recording.call_uuid BETWEEN batch.first_call AND batch.last_call
             JOIN call ON call.firm_uuid = recording.firm_uuid AND call.uuid = recording.call_uuid
           WHERE batch.uuid = $1 AND recording.object_key IS NULL AND call.batch_uuid = batch.uuid
             AND call.failure @> '{"retryable": true}' FOR UPDATE OF call SKIP LOCKED)`,
        [uuid],
      );
      return batch.key;
    },
  };
}

function batchOf({ finishPublished: _finishPublished, archiveBytes, ...batch }: BatchRow): Batch {
  return { ...batch, archiveBytes: archiveBytes === null ? null : Number(archiveBytes) };
}

export type Batches = ReturnType<typeof batches>;
