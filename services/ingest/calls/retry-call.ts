import type { Bus } from '@call-analysis/bus';
import type { Event, EventOrigin } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Transaction } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import { audioStored, extractionRequested } from '../intake/announce-recordings.ts';
import { heardReady, uploadedReady } from '../intake/announce-transcripts.ts';
import type { CallRow, Store } from '../store/index.ts';
import { eraseFirst, toldFailure } from './ended-without-result.ts';

export interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
}

/** Begins a failed call anew, when trying again can help, from as far as it had come. */
export async function retryCall(parts: Parts, firmUuid: string, callUuid: string): Promise<CallRow> {
  const { store } = parts;
  return store.db.transaction(async (tx) => {
    const call = await store.calls.lock(tx, firmUuid, callUuid);
    if (call.status !== 'failed') throw notRetryable(`Only a failed call can be retried; this one is ${call.status}.`);
    if (call.failure?.retryable !== true) {
      throw notRetryable(`A retry cannot help this call: ${toldFailure(call)?.message ?? 'it failed for good'}`);
    }
    return beginAnew(parts, tx, firmUuid, call);
  });
}

/** Has a failed call go on as its next attempt, whether a retry is likely to help or not. */
export async function beginAnew(parts: Parts, tx: Transaction, firmUuid: string, { uuid }: CallRow): Promise<CallRow> {
  const requeued = await parts.store.calls.requeue(tx, firmUuid, uuid, new Date());
  const about = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  await parts.bus.publish(tx, [await nextStep(parts, tx, requeued, about)]);
  return requeued;
}

/** What has to be told for the call to go on. */
async function nextStep({ store, objects }: Parts, tx: Transaction, call: CallRow, about: EventOrigin): Promise<Event> {
  const { firmuuid } = about;
  if (call.source === 'transcription') {
    return uploadedReady(objects, await store.calls.waitingOne(tx, firmuuid, call.uuid), about);
  }
  const utterances = await store.transcripts.of(tx, firmuuid, call.uuid);
  if (utterances !== null) return heardReady(objects, call, utterances, about);
  const recording = await store.recordings.of(tx, firmuuid, call.uuid);
  const stored = recording?.stored ?? null;
  if (recording !== null && stored !== null) {
    return audioStored(
      { uuid: call.uuid, attempt: call.attempt, segmentType: call.segment_type },
      recording,
      stored,
      about,
    );
  }
  const entry = recording?.entry ?? null;
  const archive = call.batch_uuid === null ? null : await store.batches.lockArchive(tx, firmuuid, call.batch_uuid);
  if (recording === null || entry === null || archive === null) {
    const erase = call.partner_call_id === null ? '' : ` ${eraseFirst(call.uuid)}`;
    throw notRetryable(
      `The ZIP that held this recording is no longer kept. Upload the recording again, in a new batch or by itself.${erase}`,
    );
  }
  return extractionRequested(
    { uuid: call.uuid, attempt: call.attempt, fileName: recording.fileName, entry },
    archive,
    about,
  );
}

function notRetryable(message: string): Fault {
  return new Fault('conflict', 'NOT_RETRYABLE', message);
}
