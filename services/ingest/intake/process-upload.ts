import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { counter } from '@call-analysis/runtime';
import type { Actor } from '@call-analysis/service';
import type { Firm, Firms } from '@call-analysis/service/firms';
import type { Batch } from '../batches/batch-store.ts';
import { type AcceptDeps, acceptRows } from './accept-rows.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { recordingUpload, transcriptUpload } from './upload-kinds.ts';
import { type Owner, type UploadSession, type Uploads, keyPrefix, requireStorage, untilFree } from './upload-store.ts';

export interface ProcessUploadRequest {
  readonly metadataKey: string;
  readonly audiosKey: string | null;
  readonly onError: 'reject' | 'skip';
  /** The campaign that the upload session was opened for. Null for none. */
  readonly campaignUuid: string | null;
}

interface Deps extends AcceptDeps {
  readonly uploads: Uploads;
  readonly firms: Firms;
}

/** Requests for one session copy nothing until the one before has ended: then they find its batch. */
const oneRequest = new KeyedMutex();

/**
 * Validates an upload and accepts its calls: all, or (with `skip`) the valid ones. The files are copied first, so that
 * the accepted bytes are the validated ones. Repeating a request returns the same batch.
 */
export async function processUpload(deps: Deps, owner: Actor, request: ProcessUploadRequest): Promise<Batch> {
  const { uploads, batches, campaigns, firms } = deps;
  const { campaignUuid } = request;
  // First, because what belongs to another firm is not found, whatever else is wrong with the request.
  if (campaignUuid !== null) await campaigns.statusOf(owner.firmUuid, campaignUuid);
  const firm = await firms.find(owner.firmUuid);
  for (const key of [request.metadataKey, request.audiosKey]) {
    if (key !== null && !key.startsWith(keyPrefix(firm.country, owner))) {
      throw new Fault(
        'forbidden',
        'FORBIDDEN',
        'This storage key is not yours. Use the keys that the upload step returned.',
      );
    }
  }
  const session = await uploads.findByKey(owner, request.metadataKey, campaignUuid);
  const { done, sessionUuid } = await requireProcessable(deps, owner, session, request);
  if (done !== null) return done;
  await campaigns.requireActive(owner.firmUuid, campaignUuid);
  return oneRequest.run(sessionUuid, async () => {
    await untilFree(deps.db, sessionUuid);
    const made = await batches.ofSession(owner.firmUuid, sessionUuid);
    return made ?? copyAndAccept(deps, owner, request, firm, sessionUuid);
  });
}

async function copyAndAccept(
  deps: Deps,
  owner: Actor,
  request: ProcessUploadRequest,
  firm: Firm,
  sessionUuid: string,
): Promise<Batch> {
  const { objects, limits } = deps;
  const frozenKey = `frozen/${owner.firmUuid}/${randomUUID()}`;
  const csvKey = `${frozenKey}.csv`;
  const archiveKey = request.audiosKey === null ? null : `${frozenKey}.zip`;
  try {
    const csvBytes = await freeze(objects, request.metadataKey, csvKey, limits.csvBytes, NO_CSV);
    const archive =
      archiveKey === null
        ? null
        : {
            key: archiveKey,
            bytes: await freeze(objects, request.audiosKey!, archiveKey, limits.zipBytes, NO_ARCHIVE),
          };
    if (csvBytes > limits.csvBytes) throw tooLarge(csvBytes, limits.csvBytes);
    await requireStorage(deps, owner.firmUuid, csvBytes + (archive?.bytes ?? 0));
    const upload = {
      actor: owner,
      campaignUuid: request.campaignUuid,
      sessionUuid,
      csvKey,
      archive,
      onError: request.onError,
    };
    const batch = await (archive === null
      ? acceptRows(deps, upload, transcriptUpload(firm.segmentTypes, limits))
      : acceptRows(deps, upload, recordingUpload(objects, archive, firm.segmentTypes, limits)));
    countBatch(batch);
    if (archiveKey !== null && batch.archiveKey !== archiveKey) await objects.remove(archiveKey);
    return batch;
  } catch (error) {
    // After a lost connection the batch may exist and need the archive. The sweep decides.
    const isDecided = !(error instanceof Fault && error.kind === 'unavailable');
    if (archiveKey !== null && isDecided) await objects.remove(archiveKey);
    throw error;
  } finally {
    await objects.remove(csvKey);
  }
}

/** Throws unless the session can be processed. `done` is its batch when it was processed before. */
async function requireProcessable(
  { batches }: Deps,
  owner: Owner,
  session: UploadSession | null,
  { audiosKey }: ProcessUploadRequest,
): Promise<{ done: Batch | null; sessionUuid: string }> {
  if (session === null) {
    throw new Fault(
      'invalid',
      'UPLOAD_NOT_FOUND',
      'No upload was started with this metadata_key. Request upload URLs first.',
    );
  }
  if ((session.audioKey === null) !== (audiosKey === null)) {
    const message =
      audiosKey === null
        ? 'This upload was started with recordings: send its audios_key too.'
        : 'This upload was started without recordings: leave audios_key out.';
    throw new Fault('invalid', 'UPLOAD_KIND_MISMATCH', message);
  }
  if (session.audioKey !== audiosKey) {
    const message = 'This audios_key does not belong to this metadata_key. Send the two keys of one upload.';
    throw new Fault('invalid', 'UPLOAD_NOT_FOUND', message);
  }
  const done = await batches.ofSession(owner.firmUuid, session.uuid);
  if (done === null && session.expiresAt.getTime() < Date.now()) {
    throw new Fault(
      'invalid',
      'UPLOAD_EXPIRED',
      'This upload was started more than an hour ago. Request new upload URLs and put the files again.',
    );
  }
  return { done, sessionUuid: session.uuid };
}

const NO_CSV = 'There is no file at metadata_key. Put the CSV to metadata_upload_url first.';
const NO_ARCHIVE = 'There is no file at audios_key. Put the ZIP to audio_upload_url first.';

function tooLarge(bytes: number, limit: number): Fault {
  return new Fault('invalid', 'FILE_TOO_LARGE', `The CSV has ${bytes} bytes. The limit is ${limit}. Split it.`, {
    details: { size_bytes: bytes, limit_bytes: limit },
  });
}

/**
 * Makes a copy that a later put cannot change, and returns its size. Not every object store enforces the size limit of a
 * presigned URL, and copying takes time. So a file larger than `maxBytes` is not copied. Only its size is returned.
 */
async function freeze(objects: Objects, from: string, to: string, maxBytes: number, message: string): Promise<number> {
  const notPut = new Fault('invalid', 'UPLOAD_NOT_FOUND', message);
  const put = await objects.head(from);
  if (put === null) throw notPut;
  if (put.sizeBytes > maxBytes) return put.sizeBytes;
  try {
    await objects.copy(from, to);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not-found') throw notPut;
    throw error;
  }
  const copied = await objects.head(to);
  if (copied === null) throw new Error(`the copy of an upload was removed while it was being made: ${to}`);
  return copied.sizeBytes;
}

const uploadsTotal = counter('uploads_total', 'Accepted batches by kind of upload.', ['kind']);
const rowsTotal = counter('upload_rows_total', 'Rows of accepted batches by outcome.', ['kind', 'outcome']);

/** Counts a batch that was just accepted. */
function countBatch({ kind, accepted, duplicates, rejected }: Batch): void {
  uploadsTotal.of(kind).add();
  rowsTotal.of(kind, 'accepted').add(accepted);
  rowsTotal.of(kind, 'duplicate').add(duplicates);
  rowsTotal.of(kind, 'rejected').add(rejected);
}
