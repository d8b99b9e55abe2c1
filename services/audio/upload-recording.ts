import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault, type FaultKind } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { ingest } from '@call-analysis/proto';
import type { UploadRecordingRequest } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import type { RegisterCallReply } from '@call-analysis/proto/ingest/v1/RegisterCallReply';
import type { RegisterCallRequestInit } from '@call-analysis/proto/ingest/v1/RegisterCallRequest';
import { formatOf } from '@call-analysis/recordings';
import type { Client } from '@call-analysis/rpc';
import type { Logger } from '@call-analysis/runtime';
import type { Actor } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import { markerKey, recordingKey } from './recordings/recording-objects.ts';
import { probeRecording } from './recordings/stored-source.ts';

export interface Uploader extends Pick<Actor, 'firmUuid' | 'userUuid'> {
  readonly campaignUuid: string | null;
}

/** A part of an upload. The file name comes before the bytes. The metadata comes in one piece, before or after them. */
type UploadPiece = Pick<UploadRecordingRequest, 'file_name' | 'chunk' | 'metadata'>;

interface Deps {
  readonly objects: Objects;
  readonly ingest: Pick<Client<typeof ingest>, 'registerCall'>;
  readonly log: Logger;
  readonly uploadBytes: number;
  /** The age at which the sweep removes uploads. An upload that comes near it is refused. */
  readonly orphanAfterMs: number;
}

/** Milliseconds before each retry of registering a call whose answer was lost. Registering is safe to repeat. */
const REGISTER_RETRY_MS = [250, 1000];
/** After a fault of these kinds the call may exist. Only the call catalogue knows. */
const UNDECIDED: ReadonlySet<FaultKind> = new Set(['unavailable', 'internal']);

/**
 * Stores a recording while it is received, and then registers its call. Returns the uuid of the call: an earlier one
 * when the same bytes were uploaded before under the same partner_call_id. Bytes first, row second: after a failure the
 * bytes are removed, unless the call may exist. Then they are left to the sweep, which asks the call catalogue.
 *
 * Faults are checked in the order of docs/api.md, "Single upload". The gateway has checked those before the extension.
 */
export async function uploadRecording(
  deps: Deps,
  uploader: Uploader,
  pieces: AsyncIterator<UploadPiece>,
): Promise<RegisterCallReply> {
  const beganAt = Date.now();
  const callUuid = uuidv7();
  const upload = new IncomingUpload(pieces, deps.uploadBytes);
  const fileName = await upload.fileName();
  const format = await faultOrValue(async () => formatOf(fileName));
  if (format instanceof Fault) {
    // The size is checked before the extension, so the bytes are counted to the end all the same.
    for await (const _ of upload.bytes());
    throw format;
  }
  const key = recordingKey(uploader.firmUuid, callUuid, format);
  const marked = deps.objects.put(markerKey(key), Readable.from([]));
  let isUndecided = false;
  let isKept = false;
  let isStored = false;
  // After a timeout, the object store may still store the bytes later. The marker stays so that the sweep finds them.
  let mayAppearLater = false;
  try {
    await deps.objects.put(key, Readable.from(afterMarker(upload.bytes(), marked), { objectMode: false }));
    isStored = true;
    const stored = { key, fileName, sizeBytes: upload.sizeBytes, sha256: upload.hash.digest() };
    const found = await faultOrValue(() => probeRecording(deps.objects, stored));
    if (Date.now() - beganAt > deps.orphanAfterMs / 2)
      throw new Fault('unavailable', 'UNAVAILABLE', 'Storing the recording took too long. Send it again.');
    isUndecided = true;
    const registered = await register(deps, {
      caller: { firm_uuid: uploader.firmUuid, user_uuid: uploader.userUuid },
      call_uuid: callUuid,
      file_name: fileName,
      metadata: upload.metadata(),
      ...(found instanceof Fault ? { fault: { code: found.code, message: found.message } } : { recording: found }),
      ...(uploader.campaignUuid !== null && { campaign_uuid: uploader.campaignUuid }),
    });
    isUndecided = false;
    isKept = registered.call_uuid === callUuid;
    return registered;
  } catch (error) {
    isUndecided &&= !(error instanceof Fault) || UNDECIDED.has(error.kind);
    mayAppearLater = !isStored && error instanceof Fault && error.code === 'UNAVAILABLE';
    throw error;
  } finally {
    await marked.catch(() => {});
    if (!isUndecided) await cleanUp(deps, key, { isKept, isMarked: mayAppearLater });
  }
}

/** The parts of one upload. Bytes are counted and hashed as they are read. */
class IncomingUpload {
  readonly hash = createHash('sha256');
  sizeBytes = 0;
  readonly #pieces: AsyncIterator<UploadPiece>;
  readonly #maxBytes: number;
  #metadata: string | undefined;

  constructor(pieces: AsyncIterator<UploadPiece>, maxBytes: number) {
    this.#pieces = pieces;
    this.#maxBytes = maxBytes;
  }

  /** Call once, before `bytes`. */
  async fileName(): Promise<string> {
    for (let next = await this.#pieces.next(); !next.done; next = await this.#pieces.next()) {
      const { file_name, chunk, metadata } = next.value;
      if (file_name !== undefined) return file_name;
      if (chunk !== undefined) throw missing('audio_file');
      if (metadata !== undefined) this.#metadata = metadata;
    }
    throw missing('audio_file');
  }

  /** The recording. Reads the upload to its end. Fault FILE_TOO_LARGE as soon as the limit is exceeded. */
  async *bytes(): AsyncGenerator<Buffer> {
    for (let next = await this.#pieces.next(); !next.done; next = await this.#pieces.next()) {
      const { metadata, chunk } = next.value;
      if (metadata !== undefined) this.#metadata = metadata;
      if (chunk === undefined) continue;
      this.hash.update(chunk);
      this.sizeBytes += chunk.length;
      if (this.sizeBytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
      yield chunk;
    }
    // Without metadata the recording must not be stored at all.
    this.metadata();
  }

  metadata(): string {
    if (this.#metadata === undefined) throw missing('metadata');
    return this.#metadata;
  }
}

/** Ends only after the marker is stored. A put shows no object before its stream has ended. */
async function* afterMarker(bytes: AsyncIterable<Buffer>, marked: Promise<unknown>): AsyncGenerator<Buffer> {
  // It may fail while bytes are still being received. Its failure then ends them.
  marked.catch(() => {});
  yield* bytes;
  await marked;
}

/** Other faults are reported before those of the recording, so those of the recording are a value here. */
async function faultOrValue<Value>(work: () => Promise<Value>): Promise<Value | Fault> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid') return error;
    throw error;
  }
}

async function register({ ingest }: Deps, request: RegisterCallRequestInit): Promise<RegisterCallReply> {
  for (const waitMs of REGISTER_RETRY_MS) {
    try {
      return await ingest.registerCall(request);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error;
      await pause(waitMs);
    }
  }
  return ingest.registerCall(request);
}

/** The marker goes last: as long as it exists, the sweep finds what could not be removed. */
async function cleanUp(
  { objects, log }: Deps,
  key: string,
  { isKept, isMarked }: { isKept: boolean; isMarked: boolean },
): Promise<void> {
  try {
    if (!isKept) await objects.remove(key);
    if (!isMarked) await objects.remove(markerKey(key));
  } catch (error) {
    log.warn({ err: error }, 'an upload could not be removed and is left to the sweep');
  }
}

function missing(part: string): Fault {
  return new Fault('invalid', 'MISSING_FILE', `${part} is missing.`, { details: { missing: [part] } });
}

function tooLarge(limitBytes: number): Fault {
  const message = `The file has more than ${limitBytes} bytes (${Math.floor(limitBytes / 1024 ** 2)} MB). Send a smaller one.`;
  return new Fault('invalid', 'FILE_TOO_LARGE', message, { details: { limit_bytes: limitBytes } });
}
