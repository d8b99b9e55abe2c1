import type { Bus } from '@call-analysis/bus';
import { notFound } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { Firms } from '@call-analysis/service/firms';
import { audioStored } from '../calls/call-events.ts';
import type { Calls } from '../calls/call-store.ts';
import type { Recordings, StoredRecording } from '../calls/recording-store.ts';

interface ExtractedRecording {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly recording: StoredRecording;
}

/**
 * Records that the recording of a call was extracted from its archive, and publishes that it can be transcribed. Does
 * nothing when the call is past that step or in another attempt. Fault NOT_FOUND when the call does not exist or was
 * canceled before: the caller then deletes the recording.
 */
export async function recordAudio(
  {
    db,
    calls,
    recordings,
    bus,
    firms,
  }: {
    readonly db: Database;
    readonly calls: Calls;
    readonly recordings: Recordings;
    bus: Bus;
    firms: Pick<Firms, 'settings'>;
  },
  { firmUuid, callUuid, attempt, recording }: ExtractedRecording,
): Promise<void> {
  const redact = (await firms.settings(firmUuid)).redaction === 'stored';
  await db.transaction(async (tx) => {
    const call = await calls.lock(tx, firmUuid, callUuid);
    const known = await recordings.read(tx, firmUuid, callUuid);
    if (known === null) throw notFound('recording');
    if (call.status === 'canceled' && known.stored === null) throw notFound('call');
    if (call.status !== 'queued' || call.attempt !== attempt || known.stored !== null) return;
    const at = new Date();
    await recordings.setStored(tx, { firmUuid, callUuid, at }, recording);
    await calls.recordingExtracted(tx, firmUuid, callUuid, recording.duration, at);
    // A retry concerns one call, so it goes ahead of the rest of its batch.
    const origin = { firmuuid: firmUuid, priority: attempt === 1 ? known.priority : 0 };
    await bus.publish(tx, [audioStored(call, known, recording, redact, origin)]);
  });
}
