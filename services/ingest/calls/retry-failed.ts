import { Poison } from '@call-analysis/bus';
import type { BodyOf, Event, RetryRequested } from '@call-analysis/events';
import { Fault, unavailable } from '@call-analysis/fault';
import { NOT_ANNOUNCED } from './call-store.ts';
import type { CallRow } from '../store/index.ts';
import { UNFINISHED } from './call-status.ts';
import { beginAnew, type Parts } from './retry-call.ts';

/** Has calls go on that failed, each once, however often the event comes: they are in another attempt then. */
export async function retryFailed(parts: Parts, event: Event<BodyOf<typeof RetryRequested>>): Promise<void> {
  const { firmuuid, subject, data } = event;
  if ('attempt' in data) {
    await retryOne(parts, firmuuid, subject, (call) => failedIn(call, data.attempt));
    return;
  }
  for (const uuid of await parts.store.calls.unannounced(firmuuid, subject, data)) {
    await retryOne(
      parts,
      firmuuid,
      uuid,
      ({ status, failure }) => status === 'failed' && failure?.code === NOT_ANNOUNCED,
    );
  }
}

async function retryOne(
  parts: Parts,
  firmUuid: string,
  callUuid: string,
  isMeant: (call: CallRow) => boolean,
): Promise<void> {
  try {
    await parts.store.db.transaction(async (tx) => {
      const call = await parts.store.calls.lock(tx, firmUuid, callUuid);
      if (isMeant(call)) await beginAnew(parts, tx, firmUuid, call);
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // Erased meanwhile.
    if (error.kind === 'not-found') return;
    // What is no longer kept does not come back by waiting.
    if (error.kind === 'conflict') throw new Poison(error.code, error.message, error);
    throw error;
  }
}

function failedIn({ status, attempt: present }: CallRow, attempt: number | null): boolean {
  if (attempt !== null && attempt !== present) return false;
  // That a stage gave up is told before it can be asked to be undone, but may be heard after.
  if (attempt !== null && UNFINISHED.includes(status)) throw unavailable('The failure of the call');
  return status === 'failed';
}
