import type { CallRow } from './call-row.ts';

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
