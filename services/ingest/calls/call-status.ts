import type { CallRow } from './call-row.ts';

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

/** In the history of a call: its operator and client changed places, and what was made of them before is wrong. */
export const CHANNELS_SWAPPED = 'channels swapped';

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
