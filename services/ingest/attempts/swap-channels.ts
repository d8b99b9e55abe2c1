import { type Actor, auditEntry } from '@call-analysis/service';
import type { CallRow } from '../calls/call-row.ts';
import { CHANNELS_SWAPPED } from '../calls/call-status.ts';
import type { Recordings } from '../calls/recording-store.ts';
import { analyzeLocked, type AnalyzeDeps, invalidTransition } from './analyze-call.ts';

/**
 * Operator and client of a recording change places, in its transcript too, and the call is analyzed again. Fault
 * INVALID_TRANSITION for a transcription, while the call is being processed, and when it has no transcript.
 */
export async function swapChannels(
  deps: AnalyzeDeps & { readonly recordings: Recordings },
  actor: Actor,
  callUuid: string,
): Promise<CallRow> {
  const { db, calls, recordings, transcripts, bus } = deps;
  const { firmUuid } = actor;
  return db.transaction(async (tx) => {
    const call = await calls.lock(tx, firmUuid, callUuid);
    if (call.source !== 'audio')
      throw invalidTransition('This call is a transcription. Only a recording has channels to swap.', []);
    await recordings.swapRoles(tx, firmUuid, callUuid);
    await transcripts.swapRoles(tx, firmUuid, callUuid);
    const reopened = await analyzeLocked(deps, tx, firmUuid, call, { detail: CHANNELS_SWAPPED });
    await bus.publish(tx, [auditEntry('ingest', actor, 'call.channels_swapped', callUuid)]);
    return reopened;
  });
}
