import type { Database } from '@call-analysis/postgres';
import type { CallRow } from '../../calls/call-row.ts';
import { type CallFilter, needsIndex } from '../call-query.ts';
import { matchesFilter } from '../matches-filter.ts';
import { matchingEntries } from './find-entries.ts';
import type { ResolvedFilter } from './resolve-filter.ts';

/** Uuids of a range at which its samples begin: calls that follow each other may be alike. */
const POSITIONS = 64;
const CALLS_PER_POSITION = 64;
/** Changed calls that are examined. */
const CHANGED_CALLS = 1_000;

/** The columns that `matchesFilter` reads. */
const FILTERED_COLUMNS = `uuid, status, outcome, segment_type, direction, operator_name, operator_group_name, partner_call_id,
  batch_uuid, campaign_uuid, source, start_time, score, operator_id, client_phone_number, language, duration, reviewed_at`;

interface PendingRange {
  readonly first: string;
  readonly last: string;
  readonly calls: number;
}

/**
 * By how much the index is wrong about the filter for the firm's pending changes: calls that match and are not indexed
 * as such, less those that are and no longer match. New calls and changed ones are sampled in the catalogue. Words and
 * what only the index knows are left out.
 */
export async function countPending(
  db: Database,
  firmUuid: string,
  filter: CallFilter,
  resolved: ResolvedFilter | null,
): Promise<number> {
  if (needsIndex(filter)) return 0;
  const [ranges, changed] = await Promise.all([
    db.query<PendingRange>(
      'SELECT first, last, calls FROM call_change WHERE firm_uuid = $1 AND first < last ORDER BY position LIMIT 20',
      [firmUuid],
    ),
    db.query<{ uuid: string; total: number }>(
      `SELECT first AS uuid, count(*) OVER ()::int AS total FROM call_change
       WHERE firm_uuid = $1 AND first = last ORDER BY hashint8(position) LIMIT ${CHANGED_CALLS}`,
      [firmUuid],
    ),
  ]);
  let difference = 0;
  for (const range of ranges) difference += range.calls * (await shareOf(await sampleOf(range)));
  // A changed call of a range is examined with the range.
  const others = changed.filter(({ uuid }) => !ranges.some(({ first, last }) => uuid >= first && uuid <= last));
  if (others.length > 0) {
    const uuids = [...new Set(others.map(({ uuid }) => uuid))];
    const share = await shareOf(await callsBy('uuid = ANY($2)', [uuids]));
    difference += (share * uuids.length * changed[0]!.total) / changed.length;
  }
  return difference;

  async function sampleOf({ first, last }: PendingRange): Promise<CallRow[]> {
    const [from, to] = [first, last].map((uuid) => BigInt(`0x${uuid.replaceAll('-', '')}`)) as [bigint, bigint];
    const positions = Array.from({ length: POSITIONS }, (_, index) =>
      (from + ((to - from) * BigInt(index)) / BigInt(POSITIONS)).toString(16).padStart(32, '0'),
    );
    const within = `uuid IN (SELECT sample.uuid FROM unnest($2::uuid[]) AS position (uuid) CROSS JOIN LATERAL (
      SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid >= position.uuid AND uuid <= $3 ORDER BY uuid LIMIT ${CALLS_PER_POSITION}) AS sample)`;
    return callsBy(within, [positions, last]);
  }

  async function callsBy(which: string, values: readonly unknown[]): Promise<CallRow[]> {
    return db.query<CallRow>(`SELECT ${FILTERED_COLUMNS} FROM call WHERE firm_uuid = $1 AND ${which}`, [
      firmUuid,
      ...values,
    ]);
  }

  /** Of these calls, the share that matches less the share that is indexed as matching. */
  async function shareOf(calls: readonly CallRow[]): Promise<number> {
    if (calls.length === 0) return 0;
    const indexed =
      resolved === null
        ? 0
        : await matchingEntries(
            db,
            resolved,
            calls.map(({ uuid }) => uuid),
          );
    return (calls.filter((call) => matchesFilter(filter, call)).length - indexed) / calls.length;
  }
}
