import { findErased } from '@call-analysis/call-processing';
import { Fault, invalidFields, notFound } from '@call-analysis/fault';
import type { RegisterCallReply } from '@call-analysis/proto/ingest/v1/RegisterCallReply';
import type { Publishing } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { audioStored } from '../calls/call-events.ts';
import { endedWithoutResult, eraseFirstHint } from '../calls/call-row.ts';
import type { Calls } from '../calls/call-store.ts';
import type { Recordings, StoredRecording } from '../calls/recording-store.ts';
import type { Campaigns } from '../campaigns/campaign-store.ts';
import type { Limits } from '../limits.ts';
import {
  addRecorded,
  callLocked,
  type ExistingCall,
  findExisting,
  transactionWithLockTimeout,
} from './new-call-store.ts';
import { type NamedFile, readMetadata } from './rows/metadata.ts';
import { type Owner, type StorageDeps, requireStorage } from './upload-store.ts';

interface Deps extends StorageDeps, Publishing {
  readonly calls: Calls;
  readonly campaigns: Campaigns;
  readonly recordings: Recordings;
  readonly firms: Firms;
  readonly limits: Pick<Limits, 'valueChars' | 'storageQuotaBytes'>;
}

/** A single upload whose bytes are stored, and the result of probing them. */
export interface NewRecording {
  readonly callUuid: string;
  /** As the form named the file. */
  readonly fileName: string;
  /** JSON text. */
  readonly metadata: string;
  readonly found: { readonly recording: StoredRecording } | { readonly fault: Fault };
  readonly campaignUuid: string | null;
}

/**
 * Creates the call of a single upload. Faults come in the order of docs/api.md, "Single upload": metadata, names,
 * recording. The same uuid again, or the same bytes under the same partner_call_id, returns the existing call and changes nothing.
 */
export async function registerCall(
  deps: Deps,
  owner: Owner,
  { callUuid, fileName, metadata, found, campaignUuid }: NewRecording,
): Promise<RegisterCallReply> {
  const { db, calls, campaigns, recordings, bus, firms, limits } = deps;
  const { firmUuid } = owner;
  await campaigns.requireActive(firmUuid, campaignUuid).catch(async (error: unknown) => {
    // The call was registered before the campaign ended, and this request repeats one whose answer was lost. If it were
    // refused, the caller would delete the bytes of an existing call.
    if ((await calls.known(firmUuid, [callUuid])).length === 0) throw error;
  });
  const { segmentTypes, redaction } = await firms.find(firmUuid);
  const redact = redaction === 'stored';
  const { record, ignoredFields } = readMetadata(metadata, { segmentTypes, maxValueChars: limits.valueChars });
  if (!isNamed(record.file, fileName)) throw otherName(record.audioFileName, fileName);
  if ('fault' in found) throw found.fault;
  const { recording } = found;
  const registered = await transactionWithLockTimeout(db, async (tx) => {
    // This request repeats one whose answer was lost, and the call was erased in between.
    if ((await findErased(tx, [{ firmuuid: firmUuid, subject: callUuid }])).size > 0) throw notFound('call');
    const call = { firmUuid, uuid: callUuid, campaignUuid, duration: recording.duration };
    if (!(await addRecorded(tx, call, record))) {
      const existing = await findExisting(tx, firmUuid, callUuid, record.partnerCallId);
      if (existing === null) throw callLocked();
      // The same uuid: this request repeats one whose answer was lost. The client has not uploaded twice.
      if (existing.uuid === callUuid) return { call_uuid: callUuid };
      if (existing.sha256?.equals(recording.sha256) !== true) throw takenId(existing);
      return { call_uuid: existing.uuid, repeated_upload: true, has_ended: endedWithoutResult(existing) };
    }
    await requireStorage(deps, firmUuid, recording.size_bytes, tx);
    if (campaignUuid !== null) await campaigns.addCalls(tx, firmUuid, campaignUuid, 1);
    const described = { file_name: fileName, left: record.left, right: record.right };
    await recordings.add(tx, { firmUuid, callUuid, at: new Date() }, described, recording);
    const origin = { firmuuid: firmUuid };
    const announced = {
      uuid: callUuid,
      attempt: 1,
      segment_type: record.segmentType,
      operator_name: record.operatorName,
      direction: record.direction,
      start_time: new Date(record.startedMs),
    };
    await bus.publish(tx, [audioStored(announced, record, recording, redact, origin)]);
    return { call_uuid: callUuid };
  });
  return { ...registered, ignored_fields: [...ignoredFields] };
}

/** Whether the metadata names the file, compared after NFC. A file's own name may begin or end with blanks. */
function isNamed({ name, untrimmed }: NamedFile, fileName: string): boolean {
  const uploaded = fileName.normalize();
  return uploaded === name.normalize() || uploaded === untrimmed.normalize();
}

function otherName(named: string, uploaded: string): Fault {
  return new Fault(
    'invalid',
    'AUDIO_FILENAME_MISMATCH',
    `The file is called ${JSON.stringify(uploaded)}, but audio_file_name says ${JSON.stringify(named)}. Make the two equal, extension and case included.`,
    { details: { file_name: uploaded, audio_file_name: named } },
  );
}

function takenId(existing: ExistingCall): Fault {
  const { uuid, source, sha256 } = existing;
  let message = 'Your firm already has a call with this partner_call_id and another recording. Use a different id.';
  if (endedWithoutResult(existing)) {
    const how = existing.status === 'canceled' ? 'was canceled' : 'failed permanently';
    message = `Your firm already has a call with this partner_call_id, which ${how}. ${eraseFirstHint(uuid)}`;
  } else if (source === 'transcription') {
    message = 'Your firm already has a call with this partner_call_id, uploaded as a transcript. Use a different id.';
  } else if (sha256 === null) {
    message =
      'Your firm already has a call with this partner_call_id in a batch, and its recording is not extracted from its ' +
      'archive yet. Wait for that call, or use a different id.';
  }
  return invalidFields([{ field: 'partner_call_id', code: 'ALREADY_USED', message }]);
}

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
  { db, calls, recordings, bus, firms }: Omit<Deps, 'campaigns' | 'uploads' | 'limits'>,
  { firmUuid, callUuid, attempt, recording }: ExtractedRecording,
): Promise<void> {
  const redact = (await firms.settings(firmUuid)).redaction === 'stored';
  await db.transaction(async (tx) => {
    const call = await calls.lock(tx, firmUuid, callUuid);
    const known = await recordings.read(firmUuid, callUuid, tx);
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
