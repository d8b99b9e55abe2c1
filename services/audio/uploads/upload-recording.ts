import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault, type FaultKind } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { ingest } from '@call-analysis/proto';
import type { RecordingInit } from '@call-analysis/proto/ingest/v1/Recording';
import type { RegisterCallReply } from '@call-analysis/proto/ingest/v1/RegisterCallReply';
import type { RegisterCallRequestInit } from '@call-analysis/proto/ingest/v1/RegisterCallRequest';
import { formatOf } from '@call-analysis/recordings';
import type { Client } from '@call-analysis/rpc';
import type { Logger } from '@call-analysis/runtime';
import { v7 as uuidv7 } from 'uuid';
import { Digest } from '../recordings/digest.ts';
import { markerKey, recordingKey } from '../recordings/object-keys.ts';
import { probeRecording } from '../recordings/probe-recording.ts';

export interface Uploader {
  readonly firmUuid: string;
  readonly userUuid: string;
  readonly campaignUuid: string | null;
}

/** An upload as it comes in: the name begins the recording, its bytes follow; the metadata comes whole, before or after. */
export type UploadPiece = { readonly fileName: string } | { readonly bytes: Buffer } | { readonly metadata: string };

interface Parts {
  readonly objects: Objects;
  readonly ingest: Pick<Client<typeof ingest>, 'registerCall'>;
  readonly log: Logger;
  readonly uploadBytes: number;
  /** Later than so long after its beginning, an upload may be swept away under its own hands, and is refused instead. */
  readonly orphanAfterMs: number;
}

/** Milliseconds before each further try to register a call whose answer was lost; registering is safe to repeat. */
const REGISTER_AGAIN_MS = [250, 1000];
/** Whether the call now exists is not known after these, and only the catalogue can tell. */
const UNDECIDED: ReadonlySet<FaultKind> = new Set(['unavailable', 'internal']);

/**
 * Stores a recording while it comes in, then has its call registered; returns the uuid of the call, which is an earlier
 * one when these bytes have come before under the same partner_call_id. Bytes first, row second: whatever goes wrong, the
 * bytes are removed, unless the call may exist. Then they are left to the sweep, which asks.
 *
 * The order of faults is that of api.md, section 4; what comes before the extension is judged by who sends the pieces.
 */
export async function uploadRecording(
  parts: Parts,
  uploader: Uploader,
  pieces: AsyncIterable<UploadPiece>,
): Promise<RegisterCallReply> {
  const beganAt = Date.now();
  const callUuid = uuidv7();
  const upload = new IncomingUpload(pieces, parts.uploadBytes);
  const fileName = await upload.fileName();
  const format = acceptable(fileName);
  if (format instanceof Fault) {
    // Of two faults the size is told first, so what nobody wants is counted to its end.
    for await (const _ of upload.bytes());
    throw format;
  }
  const key = recordingKey(uploader.firmUuid, callUuid, format);
  const marked = parts.objects.put(markerKey(key), Readable.from([]));
  let isUndecided = false;
  let isKept = false;
  let isStored = false;
  // A store that was given up on may take the bytes after they have been removed; the sweep then knows of them.
  let mayComeLate = false;
  try {
    await parts.objects.put(key, Readable.from(withheld(upload.bytes(), marked), { objectMode: false }));
    isStored = true;
    const { sizeBytes } = upload.digest;
    const found = await judged(
      probeRecording(parts.objects, { key, fileName, sizeBytes, sha256: upload.digest.sha256() }),
    );
    if (Date.now() - beganAt > parts.orphanAfterMs / 2) throw tooLate();
    isUndecided = true;
    const registered = await register(parts, {
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
    mayComeLate = !isStored && error instanceof Fault && error.code === 'UNAVAILABLE';
    throw error;
  } finally {
    await marked.catch(() => {});
    if (!isUndecided) await cleanUp(parts, key, { isKept, isMarked: mayComeLate });
  }
}

/** The pieces of one upload, taken apart, counted and summed as they are asked for. */
class IncomingUpload {
  readonly digest = new Digest();
  readonly #pieces: AsyncIterator<UploadPiece>;
  readonly #maxBytes: number;
  #metadata: string | undefined;

  constructor(pieces: AsyncIterable<UploadPiece>, maxBytes: number) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
  }

  /** Once, before the bytes. */
  async fileName(): Promise<string> {
    for (let next = await this.#pieces.next(); !next.done; next = await this.#pieces.next()) {
      if ('fileName' in next.value) return next.value.fileName;
      if ('metadata' in next.value) this.#metadata = next.value.metadata;
      else throw missing('audio_file');
    }
    throw missing('audio_file');
  }

  /** The recording, to the end of the upload; fails with FILE_TOO_LARGE as soon as it is. */
  async *bytes(): AsyncGenerator<Buffer> {
    for (let next = await this.#pieces.next(); !next.done; next = await this.#pieces.next()) {
      if ('metadata' in next.value) this.#metadata = next.value.metadata;
      if (!('bytes' in next.value)) continue;
      this.digest.add(next.value.bytes);
      if (this.digest.sizeBytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
      yield next.value.bytes;
    }
    // A recording without its metadata must not be stored for a moment.
    this.metadata();
  }

  metadata(): string {
    if (this.#metadata === undefined) throw missing('metadata');
    return this.#metadata;
  }
}

/** The bytes, of which the last is withheld until their marker stands: a put shows nothing before its stream has ended. */
async function* withheld(bytes: AsyncIterable<Buffer>, marked: Promise<unknown>): AsyncGenerator<Buffer> {
  // It may fail while the bytes still come in; they end with its failure then.
  marked.catch(() => {});
  yield* bytes;
  await marked;
}

function acceptable(fileName: string): ReturnType<typeof formatOf> | Fault {
  try {
    return formatOf(fileName);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** What is wrong with the bytes is told after what is wrong with the metadata, so it is an answer here. */
async function judged(probe: Promise<RecordingInit>): Promise<RecordingInit | Fault> {
  try {
    return await probe;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid') return error;
    throw error;
  }
}

async function register({ ingest }: Parts, request: RegisterCallRequestInit): Promise<RegisterCallReply> {
  for (const waitMs of REGISTER_AGAIN_MS) {
    try {
      return await ingest.registerCall(request);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error;
      await pause(waitMs);
    }
  }
  return ingest.registerCall(request);
}

/** The marker goes last: while it stands, the sweep can still find what could not be removed. */
async function cleanUp(
  { objects, log }: Parts,
  key: string,
  { isKept, isMarked }: { isKept: boolean; isMarked: boolean },
): Promise<void> {
  try {
    if (!isKept) await objects.remove(key);
    if (!isMarked) await objects.remove(markerKey(key));
  } catch (error) {
    log.warn({ err: error }, 'an upload was left to the sweep');
  }
}

function tooLate(): Fault {
  return new Fault('unavailable', 'UNAVAILABLE', 'Storing the recording took too long. Send it again.');
}

function missing(part: string): Fault {
  return new Fault('invalid', 'MISSING_FILE', `${part} is missing.`, { details: { missing: [part] } });
}

function tooLarge(limitBytes: number): Fault {
  const message = `The file has more than ${limitBytes} bytes (${Math.floor(limitBytes / 1024 ** 2)} MB). Send a smaller one.`;
  return new Fault('invalid', 'FILE_TOO_LARGE', message, { details: { limit_bytes: limitBytes } });
}
