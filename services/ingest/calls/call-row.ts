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
}

/** The columns of a `CallRow`. */
export const CALL_COLUMNS = `uuid, source, status, attempt, outcome, partner_call_id, client_phone_number, operator_name, operator_id,
  operator_group_name, direction, segment_type, start_time, duration, disconnect_reason, language, engine, score, batch_uuid,
  campaign_uuid, failure, history, created_at, updated_at, needs_review, questions, answered, reviewed_at, ended_at`;
