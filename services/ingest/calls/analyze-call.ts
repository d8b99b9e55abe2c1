import type { Bus } from '@call-analysis/bus';
import type { Event, EventOrigin } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import { transcribedRecordingReady, uploadedTranscriptReady } from '../intake/call-events.ts';
import type { CallRow, Store } from '../store/index.ts';

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
}

/**
 * Has a call scored once more, by the scorecard that is in force now; what it was scored before stays beside it. Fault
 * INVALID_TRANSITION when the call is being processed, or never came so far as to have a transcript.
 */
export async function analyzeCall(parts: Parts, firmUuid: string, callUuid: string): Promise<CallRow> {
  const { store, bus } = parts;
  return store.db.transaction(async (tx) => {
    const call = await store.calls.lock(tx, firmUuid, callUuid);
    const hasEnded = call.status === 'completed' || (call.status === 'failed' && call.failure?.stage === 'analysis');
    if (!hasEnded) throw notNow(call);
    const reopened = await store.calls.reopen(tx, firmUuid, callUuid, new Date());
    const about = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
    await bus.publish(tx, [await transcriptReady(parts, tx, reopened, about)]);
    return reopened;
  });
}

async function transcriptReady({ store, objects }: Parts, tx: Sql, call: CallRow, about: EventOrigin): Promise<Event> {
  const { firmuuid } = about;
  if (call.source === 'transcription') {
    return uploadedTranscriptReady(objects, await store.calls.waitingOne(tx, firmuuid, call.uuid), about);
  }
  const utterances = await store.transcripts.of(tx, firmuuid, call.uuid);
  // Its analysis may be told before what was heard; then that comes in a moment.
  if (utterances === null) throw cannot('The transcript of this call is not here yet. Try again shortly.', []);
  return transcribedRecordingReady(objects, call, utterances, about);
}

function notNow({ status, failure }: CallRow): Fault {
  if (status === 'failed') {
    const allowed = failure?.retryable === true ? ['retry'] : [];
    return cannot(
      `This call failed at its ${failure?.stage ?? 'processing'} and has no transcript to analyze.`,
      allowed,
    );
  }
  if (status === 'canceled')
    return cannot('This call was canceled before it was analyzed, and is not processed any more.', []);
  return cannot(`This call is ${status}. Wait until it is completed, then have it analyzed once more.`, []);
}

function cannot(message: string, allowed: readonly string[]): Fault {
  return new Fault('conflict', 'INVALID_TRANSITION', message, { details: { allowed } });
}
