import { type Bus } from '@call-analysis/bus';
import { findErased } from '@call-analysis/call-processing';
import { Fault, invalidFields, notFound, unavailable } from '@call-analysis/fault';
import { sqlState } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import { admit, requireOpen } from '../campaigns/add-calls.ts';
import type { Firms } from '../firms.ts';
import { audioStored } from '../intake/announce-recordings.ts';
import { type NamedFile, readMetadata } from '../intake/rows/metadata.ts';
import type { Limits } from '../limits.ts';
import type { CallThere, Store, StoredRecording } from '../store/index.ts';
import type { Owner } from '../store/uploads.ts';
import { eraseFirst, hasEndedForGood } from './ended-without-result.ts';

/** A single upload whose bytes have come in, and what was found in them. */
export interface NewRecording {
  readonly callUuid: string;
  /** As the form named the file. */
  readonly fileName: string;
  /** JSON text. */
  readonly metadata: string;
  readonly found: { readonly recording: StoredRecording } | { readonly fault: Fault };
  readonly campaignUuid: string | null;
}

export interface Registered {
  readonly callUuid: string;
  readonly ignoredFields: readonly string[];
  /** An earlier upload has made the call; this one changed nothing. */
  readonly isRepeated: boolean;
  /** And nothing will be made of it any more. */
  readonly hasEnded: boolean;
}

/**
 * Makes a call of a single upload. Faults come in the order of api.md, section 4: metadata, names, recording. The same
 * uuid again, or the same bytes under the same partner_call_id, is the call that is there already.
 */
export async function registerCall(
  { store, bus, firms, limits }: { store: Store; bus: Bus; firms: Firms; limits: Pick<Limits, 'valueChars'> },
  owner: Owner,
  { callUuid, fileName, metadata, found, campaignUuid }: NewRecording,
): Promise<Registered> {
  await requireOpen(store, owner.firmUuid, campaignUuid).catch(async (error: unknown) => {
    // Registered before the campaign ended, and asked again for an answer that was lost: a refusal would cost a call its bytes.
    if ((await store.calls.known(owner.firmUuid, [callUuid])).length === 0) throw error;
  });
  const { segmentTypes } = await firms.find(owner.firmUuid);
  const { record, ignoredFields } = readMetadata(metadata, { segmentTypes, maxValueChars: limits.valueChars });
  if (!isNamed(record.file, fileName)) throw otherName(record.audioFileName, fileName);
  if ('fault' in found) throw found.fault;
  const { recording } = found;
  const { firmUuid } = owner;
  const registered = store.db.transaction(async (tx) => {
    // An upload of many calls may hold the same partner_call_id for minutes, and with it this connection.
    await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
    // Asked again after its answer was lost, and erased in between.
    if ((await findErased(tx, [{ firmuuid: firmUuid, subject: callUuid }])).size > 0) throw notFound('call');
    const call = { firmUuid, uuid: callUuid, campaignUuid, duration: recording.duration };
    if (!(await store.calls.addRecorded(tx, call, record))) {
      const there = await store.calls.alreadyThere(tx, firmUuid, callUuid, record.partnerCallId);
      if (there === null) throw busy();
      // By its own uuid this upload asks once more, because an answer was lost.
      if (there.uuid === callUuid) return { callUuid, isRepeated: false, hasEnded: false };
      if (there.sha256?.equals(recording.sha256) !== true) throw takenId(there);
      return { callUuid: there.uuid, isRepeated: true, hasEnded: hasEndedForGood(there) };
    }
    await admit(store, tx, { firmUuid, campaignUuid }, 1);
    const said = { fileName, left: record.left, right: record.right };
    await store.recordings.add(tx, { firmUuid, callUuid, at: new Date() }, said, recording);
    const about = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
    const announced = { uuid: callUuid, attempt: 1, segmentType: record.segmentType };
    await bus.publish(tx, [audioStored(announced, record, recording, about)]);
    return { callUuid, isRepeated: false, hasEnded: false };
  });
  try {
    return { ...(await registered), ignoredFields };
  } catch (error) {
    throw sqlState(error) === lockNotAvailable ? busy(error) : error;
  }
}

const LOCK_MS = 2_000;
const lockNotAvailable = '55P03';

function busy(cause?: unknown): Fault {
  return unavailable('The catalogue, busy with another upload of the same call,', cause);
}

/** Whether the metadata names the file, compared after NFC. A file's own name may begin or end in blanks. */
function isNamed({ name, untrimmed }: NamedFile, fileName: string): boolean {
  const sent = fileName.normalize();
  return sent === name.normalize() || sent === untrimmed.normalize();
}

function otherName(named: string, sent: string): Fault {
  return new Fault(
    'invalid',
    'AUDIO_FILENAME_MISMATCH',
    `The file is called ${JSON.stringify(sent)}, but audio_file_name says ${JSON.stringify(named)}. Make the two equal, extension and case included.`,
    { details: { file_name: sent, audio_file_name: named } },
  );
}

function takenId(there: CallThere): Fault {
  const { uuid, source, sha256 } = there;
  let message = 'Your firm has a call of this partner_call_id, with another recording. Give this one an id of its own.';
  if (hasEndedForGood(there)) {
    const how = there.status === 'canceled' ? 'was canceled' : 'has failed for good';
    message = `Your firm has a call of this partner_call_id, which ${how}. ${eraseFirst(uuid)}`;
  } else if (source === 'transcription') {
    message = 'Your firm has a call of this partner_call_id, sent as a transcript. Give this one an id of its own.';
  } else if (sha256 === null) {
    message =
      'Your firm has a call of this partner_call_id in a batch, whose recording has not come out of its archive yet. ' +
      'Wait for that call, or give this one an id of its own.';
  }
  return invalidFields([{ field: 'partner_call_id', code: 'ALREADY_USED', message }]);
}
