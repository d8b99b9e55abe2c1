export interface Failure {
  readonly stage: string;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly attempts: number;
}

export interface HistoryEntry {
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly detail: string | null;
  /** For an entry about a removal: what the firm's retention removed. */
  readonly removed?: 'recording' | 'transcript';
}

/** When the retention of the firm removed it; null when it did not. */
export function removedAt({ history }: Pick<CallRow, 'history'>, what: 'recording' | 'transcript'): string | null {
  return history.findLast(({ removed }) => removed === what)?.at ?? null;
}

/** A row of the catalogue. */
export interface CallRow {
  readonly uuid: string;
  readonly source: 'audio' | 'transcription';
  readonly status: string;
  readonly attempt: number;
  readonly outcome: string | null;
  readonly partner_call_id: string | null;
  readonly client_phone_number: string;
  readonly operator_name: string;
  readonly operator_id: string | null;
  readonly operator_group_name: string | null;
  readonly direction: string | null;
  readonly segment_type: string;
  readonly start_time: Date;
  readonly duration: number | null;
  readonly disconnect_reason: string | null;
  readonly language: string | null;
  /** The engine that transcribed the recording; null for an uploaded transcript. */
  readonly engine: string | null;
  readonly score: number | null;
  readonly batch_uuid: string | null;
  readonly campaign_uuid: string | null;
  readonly failure: Failure | null;
  readonly history: HistoryEntry[];
  readonly created_at: Date;
  readonly updated_at: Date;
  /** How many answers of the current analysis need a review; null without an analysis, and if not counted. */
  readonly needs_review: number | null;
  /** How many questions the current analysis has, and how many are answered; null likewise. */
  readonly questions: number | null;
  readonly answered: number | null;
  /** When the current analysis was reviewed. */
  readonly reviewed_at: Date | null;
  /** When it ended, where a review has moved `updated_at` since; else null. */
  readonly ended_at: Date | null;
  /** The user whose task its review is. */
  readonly assigned_to: string | null;
  /** The sampling rule that has chosen it, the first of several. */
  readonly sampled_by: string | null;
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
