import type { CallItem } from '@call-analysis/api/calls';
import type { Dated } from '@call-analysis/api/fields';
import type { z } from 'zod';

type Shown = Dated<z.output<typeof CallItem>, 'start_time' | 'created_at' | 'updated_at' | 'reviewed_at'>;
export type Failure = NonNullable<Shown['failure']>;

export interface HistoryEntry {
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly detail: string | null;
  /** For an entry about a removal: what the firm's retention removed. */
  readonly removed?: 'recording' | 'transcript';
  /** For an entry about swapped channels: the newest analysis until then, which took operator and client for each other. */
  readonly outdated?: string;
}

/** When the retention of the firm removed it; null when it did not. */
export function removedAt({ history }: Pick<CallRow, 'history'>, what: 'recording' | 'transcript'): string | null {
  return history.findLast(({ removed }) => removed === what)?.at ?? null;
}

/** A row of the catalogue. The columns that a list shows have its names (docs/api.md, "Calls"). */
export interface CallRow extends Omit<Shown, 'batch_id' | 'campaign_id' | 'score_source'> {
  /** The engine that transcribed the recording; null for an uploaded transcript. */
  readonly engine: string | null;
  readonly batch_uuid: string | null;
  readonly campaign_uuid: string | null;
  readonly history: HistoryEntry[];
  /** When it ended, where a review has moved `updated_at` since; else null. */
  readonly ended_at: Date | null;
}

/** The user whose task the review of `call` is. */
export const ASSIGNED_TO = `(SELECT assignment.user_uuid FROM assignment
  WHERE assignment.firm_uuid = call.firm_uuid AND assignment.call_uuid = call.uuid)`;

const STORED_COLUMNS = `uuid, source, status, attempt, outcome, partner_call_id, client_phone_number, operator_name, operator_id,
  operator_group_name, direction, segment_type, start_time, duration, disconnect_reason, language, engine, score, batch_uuid,
  campaign_uuid, failure, history, created_at, updated_at, needs_review, questions, answered, reviewed_at, ended_at`;

/** The sampling rule that has chosen `call`, the first of several. */
export const SAMPLED_BY = `(SELECT sampled.rule_uuid FROM sampled_call AS sampled
  WHERE sampled.firm_uuid = call.firm_uuid AND sampled.call_uuid = call.uuid ORDER BY sampled.begins_at, sampled.rule_uuid LIMIT 1)`;

/** The columns of a `CallRow`, of `call`. */
export const CALL_COLUMNS = `${STORED_COLUMNS}, ${ASSIGNED_TO} AS assigned_to, ${SAMPLED_BY} AS sampled_by`;

/** The same values, without their names. */
export const CALL_VALUES = `${STORED_COLUMNS}, ${ASSIGNED_TO}, ${SAMPLED_BY}`;

/**
 * The uuid of the newest analysis of `call`; null without one, where no one speaks, and while that analysis is from before its
 * channels were swapped.
 */
export const CURRENT_ANALYSIS = `(SELECT newest.uuid FROM (
    SELECT analysis.uuid FROM analysis WHERE analysis.firm_uuid = call.firm_uuid AND analysis.call_uuid = call.uuid
    ORDER BY analysis.created_at DESC, analysis.uuid DESC LIMIT 1) AS newest
  WHERE call.outcome IS DISTINCT FROM 'no_speech'
    AND NOT call.history @> jsonb_build_array(jsonb_build_object('outdated', newest.uuid)))`;

/** Statuses of a call that a service may still be processing. All others are final for the attempt. */
export const UNFINISHED: readonly string[] = ['queued', 'transcribing', 'analyzing'];

/** The same as a list in SQL. */
export const UNFINISHED_SQL = `(${UNFINISHED.map((status) => `'${status}'`).join(', ')})`;

/**
 * Statuses in which a call fails when a stage gives up. In a later status, a later stage already has its input and
 * continues.
 */
export function statusesBefore(stage: string): readonly string[] {
  if (stage === 'extraction') return ['queued'];
  return stage === 'transcription' ? ['queued', 'transcribing'] : UNFINISHED;
}

type EndedCall = Pick<CallRow, 'uuid' | 'status' | 'failure' | 'partner_call_id'>;

/**
 * Whether a call was canceled or failed permanently. No retry is possible, and its partner_call_id stays taken until
 * the call is erased.
 */
export function endedWithoutResult({ status, failure }: Pick<EndedCall, 'status' | 'failure'>): boolean {
  return status === 'canceled' || (status === 'failed' && failure?.retryable !== true);
}

export function eraseFirstHint(uuid: string): string {
  return `Erase that call first with DELETE /api/v1/calls/${uuid}, then upload it again.`;
}

/** The failure of a call. Where an upload would be rejected as a duplicate of it, the message says what to do first. */
export function failureWithHint(call: EndedCall): CallRow['failure'] {
  const { uuid, failure, partner_call_id } = call;
  if (failure === null || partner_call_id === null || !endedWithoutResult(call)) return failure;
  return {
    ...failure,
    message: `${failure.message} Its partner_call_id is taken until this call is erased. ${eraseFirstHint(uuid)}`,
  };
}
