import type { Bus } from '@call-analysis/bus';
import { notFound } from '@call-analysis/fault';
import { audioStored } from '../intake/call-events.ts';
import type { Store, StoredRecording } from '../store/index.ts';

export interface ExtractedRecording {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly recording: StoredRecording;
  readonly traceparent: string | undefined;
}

/**
 * Takes down that the recording of a call has come out of its archive, and tells that it can be heard. Nothing happens
 * when the call is past that, or in another attempt. Fault NOT_FOUND when there is no such call, or it was canceled before:
 * nobody wants the recording then.
 */
export async function recordAudio(
  { store, bus }: { store: Store; bus: Bus },
  { firmUuid, callUuid, attempt, recording, traceparent }: ExtractedRecording,
): Promise<void> {
  await store.db.transaction(async (tx) => {
    const call = await store.calls.lock(tx, firmUuid, callUuid);
    const said = await store.recordings.of(tx, firmUuid, callUuid);
    if (said === null) throw notFound('recording');
    if (call.status === 'canceled' && said.stored === null) throw notFound('call');
    if (call.status !== 'queued' || call.attempt !== attempt || said.stored !== null) return;
    const at = new Date();
    await store.recordings.store(tx, { firmUuid, callUuid, at }, recording);
    await store.calls.recorded(tx, firmUuid, callUuid, recording.duration, at);
    // Who retries waits for one call, and not for its batch.
    const about = { firmuuid: firmUuid, priority: attempt === 1 ? said.priority : 0, traceparent };
    const announced = { uuid: callUuid, attempt, segmentType: call.segment_type };
    await bus.publish(tx, [audioStored(announced, said, recording, about)]);
  });
}
