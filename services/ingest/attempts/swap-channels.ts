import { type Actor, auditEntry } from '@call-analysis/service';
import { CHANNELS_SWAPPED } from '../calls/call-status.ts';
import type { CallRow } from '../store/index.ts';
import { analyzeLocked, type AnalyzeDeps, invalidTransition } from './analyze-call.ts';

/**
 * Operator and client of a recording change places, in its transcript too, and the call is analyzed again. Fault
 * INVALID_TRANSITION for a transcription, while the call is being processed, and when it has no transcript.
 */
export async function swapChannels(deps: AnalyzeDeps, actor: Actor, callUuid: string): Promise<CallRow> {
  const { store, bus } = deps;
  const { firmUuid } = actor;
  return store.transaction(async (tx) => {
    const call = await store.calls.lock(tx, firmUuid, callUuid);
    if (call.source !== 'audio')
      throw invalidTransition('This call is a transcription. Only a recording has channels to swap.', []);
    await store.recordings.swapRoles(tx, firmUuid, callUuid);
    await store.transcripts.swapRoles(tx, firmUuid, callUuid);
    const reopened = await analyzeLocked(deps, tx, firmUuid, call, { detail: CHANNELS_SWAPPED });
    await bus.publish(tx, [auditEntry('ingest', actor, 'call.channels_swapped', callUuid)]);
    return reopened;
  });
}
