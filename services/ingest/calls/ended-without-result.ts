import type { CallRow } from '../store/index.ts';

type Ended = Pick<CallRow, 'uuid' | 'status' | 'failure' | 'partner_call_id'>;

/** Nothing makes more of such a call. Its partner_call_id stays taken all the same, until it is erased. */
export function hasEndedForGood({ status, failure }: Pick<Ended, 'status' | 'failure'>): boolean {
  return status === 'canceled' || (status === 'failed' && failure?.retryable !== true);
}

export function eraseFirst(uuid: string): string {
  return `Erase that call first, by DELETE /api/v1/calls/${uuid}, and then send it anew.`;
}

/** What went wrong, and where sending the call anew would be taken for a repeat, what has to be done before. */
export function toldFailure(call: Ended): CallRow['failure'] {
  const { uuid, failure, partner_call_id } = call;
  if (failure === null || partner_call_id === null || !hasEndedForGood(call)) return failure;
  return {
    ...failure,
    message: `${failure.message} Its partner_call_id is taken as long as this call is there. ${eraseFirst(uuid)}`,
  };
}
