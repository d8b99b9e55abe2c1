import { createHash } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { type FailureReason, type GiveUpResult, Poison } from '@call-analysis/bus';
import { failCall, findErased, giveUpCall, type WorkInProgress } from '@call-analysis/call-processing';
import type { AudioExtractionRequested, BodyOf, Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { ingest } from '@call-analysis/proto';
import { formatOf } from '@call-analysis/recordings';
import type { Client } from '@call-analysis/rpc';
import type { Logger } from '@call-analysis/runtime';
import type { Publishing, Registered } from '@call-analysis/service';
import { openEntry, storedArchive } from '@call-analysis/zip';
import { counted } from './metrics.ts';
import { recordingKey, removeRecording } from './recordings/recording-objects.ts';
import { probeRecording } from './recordings/stored-source.ts';

export type ExtractionRequested = Event<BodyOf<typeof AudioExtractionRequested>>;

export interface Deps extends Publishing {
  readonly objects: Objects;
  readonly ingest: Pick<Client<typeof ingest>, 'recordAudio'>;
  readonly inProgress: WorkInProgress;
  readonly log: Logger;
  /** Aborts when the service stops; the event is then delivered again. */
  readonly interrupted: AbortSignal;
}

/**
 * Extracts a recording from its archive, stores it and reports it to the call catalogue. Safe to repeat at any point: an
 * entry is stored completely or not at all, so an object at the key is the recording, and the archive is no longer
 * needed. When the entry can never become a recording, the bytes are removed and the call fails. When the call is
 * erased meanwhile, nothing is kept or reported.
 */
export async function extractRecording(deps: Deps & Registered, event: ExtractionRequested): Promise<void> {
  const { db, objects, inProgress } = deps;
  const isErased = async () => (await findErased(db, [event])).size > 0;
  await inProgress.run(event, async (erased) => {
    let isWanted = !(await isErased());
    try {
      isWanted &&= await counted('archive', () => extract(deps, event, AbortSignal.any([deps.interrupted, erased])));
      // The call may have been erased after the catalogue answered, and the recording is removed last.
      isWanted &&= !(await isErased());
    } catch (error) {
      isWanted = false;
      if (!erased.aborted && !(await isErased())) {
        if (!(error instanceof Fault && PERMANENT_CODES.has(error.code))) throw error;
        await failCall(deps, FAILURE, event, error);
      }
    }
    if (!isWanted) await removeRecording(objects, event);
  });
}

/** False when the catalogue no longer has the call. */
async function extract(deps: Deps, event: ExtractionRequested, signal: AbortSignal): Promise<boolean> {
  const { objects, ingest } = deps;
  const { data, subject: callUuid, firmuuid: firmUuid } = event;
  let key: string | undefined;
  try {
    key = recordingKey(firmUuid, callUuid, formatOf(data.file_name));
    const sha256 = (await digestOfStored(objects, key, data.entry.bytes)) ?? (await store(objects, key, data, signal));
    const stored = { key, fileName: data.file_name, sizeBytes: data.entry.bytes, sha256 };
    const recording = await probeRecording(objects, stored);
    return await isAccepted(
      ingest.recordAudio({
        firm_uuid: firmUuid,
        call_uuid: callUuid,
        attempt: data.attempt,
        recording,
      }),
    );
  } catch (error) {
    const isHopeless = error instanceof Fault && (error.kind === 'invalid' || error.kind === 'not-found');
    if (!isHopeless) throw error;
    if (key !== undefined) await objects.remove(key);
    throw PERMANENT_CODES.has(error.code) ? error : new Poison(error.code, error.message, error.cause);
  }
}

async function isAccepted(reported: Promise<unknown>): Promise<boolean> {
  try {
    await reported;
    return true;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not-found') return false;
    // The two services disagree, as those of two releases may: it says nothing about the recording.
    if (error instanceof Fault && error.kind === 'invalid')
      throw new Error('ingest does not accept the recording', { cause: error });
    throw error;
  }
}

/** The SHA-256 of the recording that an earlier attempt stored. Null when none did. */
async function digestOfStored(objects: Objects, key: string, bytes: number): Promise<Buffer | null> {
  const found = await objects.head(key);
  if (found === null || found.sizeBytes !== bytes) return null;
  const hash = createHash('sha256');
  for await (const piece of await objects.open(key)) hash.update(piece as Buffer);
  return hash.digest();
}

async function store(
  objects: Objects,
  key: string,
  { archive_key, archive_bytes, entry }: ExtractionRequested['data'],
  signal: AbortSignal,
): Promise<Buffer> {
  const hash = createHash('sha256');
  let bytes: Readable | undefined;
  async function* hashed(source: Readable): AsyncGenerator<Buffer> {
    for await (const piece of source as AsyncIterable<Buffer>) {
      hash.update(piece);
      yield piece;
    }
  }
  try {
    bytes = await openEntry(storedArchive(objects, archive_key, archive_bytes), entry);
    signal.throwIfAborted();
    const pieces = hashed(addAbortSignal(signal, bytes));
    await objects.put(key, Readable.from(pieces, { objectMode: false }), { maxBytes: entry.bytes });
    return hash.digest();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof Fault && error.code === 'NOT_FOUND')) throw error;
    // A worker that has lost its lease meanwhile: another one has stored the recording, after which the archive was released.
    const stored = await digestOfStored(objects, key, entry.bytes);
    if (stored === null) throw archiveMissing(error);
    return stored;
  } finally {
    // A generator whose read is pending would keep it open.
    bytes?.destroy();
  }
}

function archiveMissing(cause: unknown): Fault {
  const message = 'The archive with this recording is no longer kept. Upload the recording again.';
  return new Fault('invalid', 'ARCHIVE_MISSING', message, { cause });
}

/** Codes that describe the entry and its archive. A retry would only repeat them. */
const PERMANENT_CODES = new Set([
  'ARCHIVE_MISSING',
  'ENTRY_CORRUPT',
  'INVALID_FILE_FORMAT',
  'AUDIO_UNREADABLE',
  'AUDIO_NOT_STEREO',
]);

const FAILURE = {
  source: 'audio',
  stage: 'extraction',
  what: 'Extracting the recording from its archive',
  permanentCodes: PERMANENT_CODES,
} as const;

export async function giveUpExtraction(
  deps: Deps & Registered,
  event: Event,
  reason: FailureReason,
): Promise<GiveUpResult> {
  return giveUpCall(deps, FAILURE, event, reason);
}
