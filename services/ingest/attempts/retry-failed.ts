import type { BodyOf, Event, RetryRequested } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { type Announcements, NOT_ANNOUNCED } from '../batches/announcement-store.ts';
import type { CallRow } from '../calls/call-row.ts';
import { UNFINISHED } from '../calls/call-status.ts';
import { type RetryDeps, redactsStored, startAttempt } from './retry-call.ts';

/**
 * Retries the failed calls that a replayed dead letter names. An event that is delivered again has no effect: the calls
 * are in another attempt by then.
 */
export async function retryFailed(
  deps: RetryDeps & { readonly announcements: Announcements },
  event: Event<BodyOf<typeof RetryRequested>>,
): Promise<void> {
  const { firmuuid, subject, data } = event;
  if ('attempt' in data) {
    await retryIf(deps, firmuuid, subject, (call) => failedIn(call, data.attempt));
    return;
  }
  for (const uuid of await deps.announcements.notAnnounced(firmuuid, subject, data)) {
    await retryIf(
      deps,
      firmuuid,
      uuid,
      ({ status, failure }) => status === 'failed' && failure?.code === NOT_ANNOUNCED,
    );
  }
}

/** Whether a new attempt was started. */
export async function retryIf(
  deps: RetryDeps,
  firmUuid: string,
  callUuid: string,
  applies: (call: CallRow) => boolean,
): Promise<boolean> {
  const redact = await redactsStored(deps, firmUuid);
  try {
    return await deps.db.transaction(async (tx) => {
      const call = await deps.calls.lock(tx, firmUuid, callUuid);
      if (!applies(call)) return false;
      await startAttempt(deps, tx, firmUuid, call, redact);
      return true;
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // The call was erased in the meantime; or its recording or archive was deleted, and it stays failed.
    if (error.kind === 'not-found' || error.kind === 'conflict') return false;
    throw error;
  }
}

function failedIn({ status, attempt: current }: CallRow, attempt: number | null): boolean {
  if (attempt !== null && attempt !== current) return false;
  // The CallFailed event was published before this one, but may be consumed after it.
  if (attempt !== null && UNFINISHED.includes(status)) {
    throw new Error('The failure of this call is not recorded yet; the event is delivered again.');
  }
  return status === 'failed';
}
