import type { RemovedThing } from '@call-analysis/call-processing';
import type { Sql } from '@call-analysis/postgres';

type Remove = (tx: Sql, firmUuid: string, limit: number) => Promise<RemovedThing[]>;

/**
 * The tables that hold data of a firm. First what would make more of it: jobs, uploads and batches. Then the calls, whose
 * triggers remove their rows for lists and their documents, and note changes of statistics and of the campaigns' tallies; and
 * last those.
 */
export const firmRows: readonly Remove[] = [
  ofFirm('job', 'job'),
  ofFirm('job_call', null),
  ofFirm('upload_session', 'upload_session'),
  ofFirm('batch', 'batch'),
  ofFirm('rejected_file', 'refused_file'),
  ofFirm('rejected_filter', null),
  ofFirm('review', 'review'),
  ofFirm('compared_answer', null),
  ofFirm('comment', 'comment'),
  ofFirm('saved_view', 'view'),
  ofFirm('assignment', null),
  ofFirm('acknowledgement', null),
  ofFirm('dispute', 'dispute'),
  ofFirm('calibration_answer', null),
  ofFirm('calibration_call', null),
  ofFirm('calibration', 'calibration'),
  ofFirm('recording', 'recording'),
  ofFirm('stored_bytes', null),
  ofFirm('transcript', 'transcript'),
  removeCalls,
  ofFirm('analysis_form', null),
  ofFirm('erasure', null),
  removeCampaigns,
  ofFirm('scorecard_label', null),
  ofFirm('statistic_change', null),
  ofFirm('statistic_day', null),
  ofFirm('statistic_sum', null),
  ofFirm('queued_words', null),
  ofFirm('facet', null),
  ofFirm('firm_number', null),
  async function removeTombstones(tx, firmUuid, limit) {
    const where = `firm_uuid = $1 AND subject <> $1`;
    return [{ what: null, count: await removeRows(tx, 'erased_subject', where, firmUuid, limit) }];
  },
];

function ofFirm(table: string, what: string | null): Remove {
  return async (tx, firmUuid, limit) => [
    { what, count: await removeRows(tx, table, 'firm_uuid = $1', firmUuid, limit) },
  ];
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

/** Locked first: a row that a transaction is changing would move while it is deleted by its place, and stay. */
async function removeRows(tx: Sql, table: string, where: string, firmUuid: string, limit: number): Promise<number> {
  await tx.query(`SELECT FROM ${table} WHERE ${where} LIMIT $2 FOR UPDATE`, [firmUuid, limit]);
  const [row] = await tx.query<{ count: number }>(
    `WITH removed AS (
       DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${where} LIMIT $2)) AND ${where} RETURNING 1)
     SELECT count(*)::int AS count FROM removed`,
    [firmUuid, limit],
  );
  return row!.count;
}
