import type { InboxPage } from '@call-analysis/api/desk';
import type { Dated } from '@call-analysis/api/fields';
import { notFound } from '@call-analysis/fault';
import { type Database, type Page, readPage } from '@call-analysis/postgres';
import type { Person } from '@call-analysis/service';
import type { z } from 'zod';
import { seesCallOf } from '../calls/call-store.ts';

/** Something that waits for a person. */
export type InboxItem = Dated<z.output<typeof InboxPage>['items'][number], 'at' | 'due' | 'start_time'>;

/** $1 the firm, $2 the person, $3 whether they decide disputes, $4 the operator ids of the calls that they see, or null. */
const ITEMS = `
  SELECT 'mention' AS kind, uuid, call_uuid, at, by_uuid AS by, text, NULL::timestamptz AS due, NULL::uuid AS question_uuid
  FROM comment WHERE firm_uuid = $1 AND mentions @> ARRAY[$2::uuid] AND NOT read_by @> ARRAY[$2::uuid] AND NOT EXISTS (
    SELECT FROM comment AS answer WHERE answer.firm_uuid = comment.firm_uuid AND answer.call_uuid = comment.call_uuid
      AND answer.by_uuid = $2 AND answer.uuid > comment.uuid)
    AND ${seesCallOf('comment', '$4')}
  UNION ALL
  SELECT 'assignment', call_uuid, call_uuid, at, by_uuid, NULL, due, NULL
  FROM assignment WHERE firm_uuid = $1 AND user_uuid = $2 AND NOT EXISTS (
    SELECT FROM review WHERE review.firm_uuid = assignment.firm_uuid AND review.call_uuid = assignment.call_uuid
      AND review.done AND review.at > assignment.at)
    AND ${seesCallOf('assignment', '$4')}
  UNION ALL
  SELECT 'dispute', uuid, call_uuid, at, by_uuid, reason, NULL, question_uuid
  FROM dispute WHERE firm_uuid = $1 AND status = 'open' AND by_uuid <> $2 AND $3::boolean
  UNION ALL
  SELECT 'calibration', uuid, NULL, created_at, by_uuid, name, due, NULL
  FROM calibration WHERE firm_uuid = $1 AND closed_at IS NULL AND user_uuids @> ARRAY[$2::uuid] AND $4::text[] IS NULL
    AND EXISTS (
    SELECT FROM calibration_call AS call WHERE call.firm_uuid = calibration.firm_uuid
      AND call.calibration_uuid = calibration.uuid AND NOT EXISTS (
        SELECT FROM calibration_answer AS given WHERE given.firm_uuid = call.firm_uuid
          AND given.calibration_uuid = call.calibration_uuid AND given.call_uuid = call.call_uuid AND given.user_uuid = $2))`;

/**
 * What waits for a person, newest first: comments that mention them until they comment on the call themselves or put the
 * mention away, calls that are assigned to them until they are reviewed, open disputes of others for those who decide them, and calibrations until
 * they have answered. An OPERATOR gets what concerns calls that they see.
 */
export async function readInbox(
  db: Database,
  { firmUuid, userUuid, role, seenOperators }: Person,
  page: Page,
): Promise<{ count: number; items: InboxItem[] }> {
  const values = [firmUuid, userUuid, role !== 'OPERATOR', seenOperators];
  const columns = 'item.*, call.operator_name, call.start_time';
  const matching = `FROM (${ITEMS}) AS item LEFT JOIN call ON call.firm_uuid = $1 AND call.uuid = item.call_uuid`;
  return readPage<InboxItem>(db, { columns, matching, values, orderBy: 'at DESC, item.uuid' }, page);
}

/** The person has read the comment that mentions them. Fault NOT_FOUND when it does not, or is about a call that they do not see. */
export async function putMentionAway(
  db: Database,
  { firmUuid, userUuid, seenOperators }: Person,
  uuid: string,
): Promise<void> {
  const found = await db.query(
    `UPDATE comment SET read_by = array_remove(read_by, $2::uuid) || $2::uuid
     WHERE firm_uuid = $1 AND mentions @> ARRAY[$2::uuid] AND uuid = $4 AND ${seesCallOf('comment', '$3')} RETURNING 1`,
    [firmUuid, userUuid, seenOperators, uuid],
  );
  if (found.length === 0) throw notFound('mention');
}
