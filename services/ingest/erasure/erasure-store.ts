import type { RemovedThing } from '@call-analysis/call-processing';
import { notFound } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { CallIdentity } from '../intake/rejected/rejected-filter.ts';

interface Table {
  readonly name: string;
  /** What a row is called in receipts; absent where it is not worth a line. */
  readonly what?: string;
  /** Whether its rows with the call's uuid go with a call. */
  readonly ofCall?: true;
}

/**
 * Every table that holds data of a firm or of a call, in the order in which those of a firm are removed. First what would make
 * more of it: jobs, uploads and batches. Then the calls, whose triggers remove their rows for lists and their documents, and
 * note changes of statistics and of the campaigns' tallies; and last those.
 */
export const TABLES: readonly Table[] = [
  { name: 'job', what: 'job' },
  { name: 'sampling_rule', what: 'sampling_rule' },
  { name: 'sample' },
  { name: 'job_call' },
  { name: 'upload_session', what: 'upload_session' },
  { name: 'batch', what: 'batch' },
  { name: 'rejected_file', what: 'refused_file' },
  { name: 'rejected_filter' },
  { name: 'review', what: 'review', ofCall: true },
  { name: 'compared_answer', ofCall: true },
  { name: 'comment', what: 'comment', ofCall: true },
  { name: 'saved_view', what: 'view' },
  { name: 'assignment', ofCall: true },
  { name: 'acknowledgement', ofCall: true },
  { name: 'dispute', what: 'dispute', ofCall: true },
  { name: 'review_lease', ofCall: true },
  { name: 'sampled_call', ofCall: true },
  { name: 'calibration_answer', ofCall: true },
  { name: 'calibration_call', ofCall: true },
  { name: 'calibration', what: 'calibration' },
  { name: 'recording', what: 'recording', ofCall: true },
  { name: 'stored_bytes' },
  { name: 'transcript', what: 'transcript', ofCall: true },
  { name: 'analysis', what: 'analysis', ofCall: true },
  { name: 'call', what: 'call' },
  { name: 'analysis_form' },
  { name: 'erasure' },
  { name: 'campaign', what: 'campaign' },
  { name: 'scorecard_label' },
  { name: 'statistic_change' },
  { name: 'statistic_day' },
  { name: 'statistic_sum' },
  { name: 'queued_words' },
  { name: 'facet' },
  { name: 'firm_number' },
  { name: 'erased_subject' },
];

type RemoveRows = (tx: Sql, firmUuid: string, limit: number) => Promise<RemovedThing[]>;

/** Tables whose rows are not simply those of the firm. Null: they go with other rows. */
const SPECIAL: Readonly<Record<string, RemoveRows | null>> = {
  // Without the firm's calls they could not be found by index.
  analysis: null,
  call: removeCalls,
  campaign: removeCampaigns,
  // The tombstone of the firm itself stays.
  erased_subject: removing('erased_subject', undefined, 'firm_uuid = $1 AND subject <> $1'),
};

/** The removal of a firm, table by table. */
export const firmRows: readonly RemoveRows[] = TABLES.flatMap(({ name, what }) => {
  const special = SPECIAL[name];
  return special === undefined ? removing(name, what, 'firm_uuid = $1') : (special ?? []);
});

function removing(table: string, what: string | undefined, where: string): RemoveRows {
  // Locked first: a row that a transaction is changing would move while it is deleted by its place, and stay.
  const lock = `SELECT FROM ${table} WHERE ${where} LIMIT $2 FOR UPDATE`;
  const remove = `WITH removed AS (
      DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${where} LIMIT $2)) AND ${where} RETURNING 1)
    SELECT count(*)::int AS count FROM removed`;
  return async (tx, firmUuid, limit) => {
    await tx.query(lock, [firmUuid, limit]);
    const [row] = await tx.query<{ count: number }>(remove, [firmUuid, limit]);
    return [{ what: what ?? null, count: row!.count }];
  };
}

/** With their analyses, which are found by call alone. */
async function removeCalls(tx: Sql, firmUuid: string, limit: number): Promise<RemovedThing[]> {
  const calls = await tx.query<{ uuid: string; transcripts: number }>(
    `DELETE FROM call WHERE firm_uuid = $1 AND uuid IN (SELECT uuid FROM call WHERE firm_uuid = $1 ORDER BY uuid LIMIT $2)
     RETURNING uuid, (tagged_text IS NOT NULL)::int AS transcripts`,
    [firmUuid, limit],
  );
  const analyses = await tx.query(
    'DELETE FROM analysis WHERE call_uuid = ANY($2::uuid[]) AND firm_uuid = $1 RETURNING 1',
    [firmUuid, calls.map(({ uuid }) => uuid)],
  );
  return [
    { what: 'call', count: calls.length },
    { what: 'transcript', count: calls.reduce((sum, { transcripts }) => sum + transcripts, 0) },
    { what: 'analysis', count: analyses.length },
  ];
}

/** The changes before the tally: adding them up moves rows from the one to the other. */
async function removeCampaigns(tx: Sql, firmUuid: string): Promise<RemovedThing[]> {
  const theirs = 'campaign_uuid IN (SELECT uuid FROM campaign WHERE firm_uuid = $1)';
  await tx.query(`DELETE FROM campaign_change WHERE ${theirs}`, [firmUuid]);
  await tx.query(`DELETE FROM campaign_tally WHERE ${theirs}`, [firmUuid]);
  const campaigns = await tx.query('DELETE FROM campaign WHERE firm_uuid = $1 RETURNING 1', [firmUuid]);
  return [{ what: 'campaign', count: campaigns.length }];
}

/** How many of one kind of thing were removed, in the words of the receipt. */
export interface Removed {
  readonly what: string;
  readonly count: number;
}

/** The erasure of a call. It holds no data of the call itself. */
export interface Erasure {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly batchUuid: string | null;
  /** Of its recording. */
  readonly objectKey: string | null;
  readonly removed: readonly Removed[];
  readonly erasedAt: Date;
  /** Null while parts of the call may still exist. */
  readonly finishedAt: Date | null;
}

/** What a receipt names of a call, in this order. */
const RECEIPT = ['call', 'recording', 'transcript', 'analysis', 'history_entry', 'review', 'comment', 'dispute'];

const columns = `firm_uuid AS "firmUuid", call_uuid AS "callUuid", batch_uuid AS "batchUuid", object_key AS "objectKey",
  removed, erased_at AS "erasedAt", finished_at AS "finishedAt"`;

/** Every statement but `prune` is limited to one firm. */
export function erasures(db: Sql) {
  return {
    /** In a transaction it is locked until the end. */
    async find(firmUuid: string, callUuid: string, tx?: Sql): Promise<Erasure | null> {
      const [row] = await (tx ?? db).query<Erasure>(
        `SELECT ${columns} FROM erasure WHERE firm_uuid = $1 AND call_uuid = $2 ${tx === undefined ? '' : 'FOR UPDATE'}`,
        [firmUuid, callUuid],
      );
      return row ?? null;
    },

    /** Fault NOT_FOUND when there is no such call. */
    async identify(firmUuid: string, uuid: string): Promise<CallIdentity> {
      const rows = await db.query<CallIdentity>(
        `SELECT firm_uuid AS "firmUuid", partner_call_id AS "partnerCallId", client_phone_number AS phone,
           start_time AS "startTime", tagged_text AS text
         FROM call WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid],
      );
      if (rows[0] === undefined) throw notFound('call');
      return rows[0];
    },

    /** Deletes the rows of a locked call and records the erasure. `before` was removed in advance. */
    async erase(tx: Sql, firmUuid: string, callUuid: string, before: readonly Removed[], at: Date): Promise<Erasure> {
      const which = [firmUuid, callUuid];
      const [recording] = await tx.query<{ key: string | null }>(
        'SELECT object_key AS key FROM recording WHERE firm_uuid = $1 AND call_uuid = $2',
        which,
      );
      const objectKey = recording?.key ?? null;
      const counts: Record<string, number> = {};
      for (const { name, what } of TABLES.filter(({ ofCall }) => ofCall)) {
        const rows = await tx.query(`DELETE FROM ${name} WHERE firm_uuid = $1 AND call_uuid = $2 RETURNING 1`, which);
        if (what !== undefined) counts[what] = rows.length;
      }
      const [call] = await tx.query<{ batch: string | null; uploaded: number; history: number }>(
        `DELETE FROM call WHERE firm_uuid = $1 AND uuid = $2
         RETURNING batch_uuid AS batch, (tagged_text IS NOT NULL)::int AS uploaded,
           jsonb_array_length(history) + 1 AS history`,
        which,
      );
      if (call === undefined) throw new Error(`the call ${callUuid} was not locked while it was erased`);
      const batchUuid = call.batch;
      counts['call'] = 1;
      counts['recording'] = objectKey === null ? 0 : 1;
      counts['transcript']! += call.uploaded;
      counts['history_entry'] = call.history;
      const removed = present([...RECEIPT.map((what) => ({ what, count: counts[what]! })), ...before]);
      await tx.query(
        `INSERT INTO erasure (firm_uuid, call_uuid, batch_uuid, object_key, removed, erased_at)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [firmUuid, callUuid, batchUuid, objectKey, JSON.stringify(removed), at],
      );
      return { firmUuid, callUuid, batchUuid, objectKey, removed, erasedAt: at, finishedAt: null };
    },

    /** Adds to the receipt. `finishedAt` is set once nothing of the call is left. */
    async update(tx: Sql, erasure: Erasure, added: readonly Removed[], finishedAt: Date | null): Promise<Erasure> {
      const removed = [...erasure.removed];
      for (const { what, count } of present(added)) {
        const index = removed.findIndex((each) => each.what === what);
        if (index === -1) removed.push({ what, count });
        else removed[index] = { what, count: removed[index]!.count + count };
      }
      await tx.query('UPDATE erasure SET removed = $3, finished_at = $4 WHERE firm_uuid = $1 AND call_uuid = $2', [
        erasure.firmUuid,
        erasure.callUuid,
        JSON.stringify(removed),
        finishedAt,
      ]);
      return { ...erasure, removed, finishedAt };
    },

    /** Deletes receipts of erasures that finished more than `days` days ago. */
    async prune(days: number): Promise<void> {
      await db.query('DELETE FROM erasure WHERE finished_at < now() - make_interval(days => $1)', [days]);
    },
  };
}

function present(removed: readonly Removed[]): Removed[] {
  return removed.filter(({ count }) => count > 0);
}

export type Erasures = ReturnType<typeof erasures>;
