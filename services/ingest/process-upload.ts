import { randomUUID } from 'node:crypto';
import type { Bus } from '@call-analysis/bus';
import type { BodyOf, Event } from '@call-analysis/events';
import { CallsAccepted } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { currentContext } from '@call-analysis/runtime';
import { v7 as uuidv7 } from 'uuid';
import { announcements } from './announce-calls.ts';
import { checkTranscriptionRow, transcriptionColumns } from './rows/call-record.ts';
import type { Limits } from './config.ts';
import type { RawRecord } from './csv/reader.ts';
import { readCsv } from './csv/reader.ts';
import type { Firms } from './firms.ts';
import { ownPrefix } from './open-upload.ts';
import { Refusals } from './refusals.ts';
import type { RowFault } from './rows/row-fault.ts';
import { rowFault } from './rows/row-fault.ts';
import type { Batch, Store } from './store/index.ts';
import type { Candidate, Prepared, Verdict } from './store/intake.ts';
import { Intake } from './store/intake.ts';
import type { Owner, UploadSession } from './store/uploads.ts';

export interface ProcessUploadRequest {
  readonly metadataKey: string;
  readonly audiosKey: string | null;
  readonly onError: 'reject' | 'skip';
}

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly firms: Firms;
  readonly limits: Limits;
}

/**
 * Checks an upload and takes its calls in, all or (with `skip`) all that are good. What was checked is what is taken:
 * a copy is frozen first. The same keys again give the same batch.
 */
export async function processUpload(parts: Parts, owner: Owner, request: ProcessUploadRequest): Promise<Batch> {
  const { store, objects, firms, limits } = parts;
  const firm = await firms.find(owner.firmUuid);
  for (const key of [request.metadataKey, request.audiosKey]) {
    if (key !== null && !key.startsWith(ownPrefix(firm.country, owner))) {
      throw new Fault('forbidden', 'FORBIDDEN', 'This storage key is not yours. Use the keys that the upload step gave you.');
    }
  }
  const session = await store.uploads.findByKey(owner, request.metadataKey);
  const done = await answerable(parts, owner, session, request);
  if (done !== null) return done;

  const frozen = `frozen/${owner.firmUuid}/${randomUUID()}.csv`;
  await freeze(objects, request.metadataKey, frozen, limits);
  try {
    return await intake(parts, owner, session!, request.onError, frozen, firm.segmentTypes);
  } finally {
    await objects.remove(frozen);
  }
}

/** The batch, when the session has one; null when it can be processed; else the fault of the session. */
async function answerable(
  { store }: Parts,
  owner: Owner,
  session: UploadSession | null,
  { audiosKey }: ProcessUploadRequest,
): Promise<Batch | null> {
  if (session === null) {
    throw new Fault('invalid', 'UPLOAD_NOT_FOUND', 'No upload was begun with this metadata_key. Ask for upload URLs first.');
  }
  if ((session.audioKey === null) !== (audiosKey === null)) {
    const message =
      audiosKey === null
        ? 'This upload was begun with recordings: send its audios_key too.'
        : 'This upload was begun without recordings: leave audios_key out.';
    throw new Fault('invalid', 'UPLOAD_KIND_MISMATCH', message);
  }
  const batch = await store.batches.ofSession(owner.firmUuid, session.uuid);
  if (batch !== null) return batch;
  if (session.expiresAt.getTime() < Date.now()) {
    throw new Fault('invalid', 'UPLOAD_EXPIRED', 'This upload began over an hour ago. Ask for new upload URLs and put the files again.');
  }
  return null;
}

async function freeze(objects: Objects, from: string, to: string, limits: Limits): Promise<void> {
  const notPut = new Fault('invalid', 'UPLOAD_NOT_FOUND', 'Nothing was put at metadata_key. Put the CSV to metadata_upload_url first.');
  if ((await objects.head(from)) === null) throw notPut;
  try {
    await objects.copy(from, to);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not-found') throw notPut;
    throw error;
  }
  const copied = await objects.head(to);
  if (copied !== null && copied.sizeBytes > limits.csvBytes) {
    await objects.remove(to);
    throw new Fault('invalid', 'FILE_TOO_LARGE', `The CSV has ${copied.sizeBytes} bytes; at most ${limits.csvBytes} are taken. Split it.`, {
      details: { size_bytes: copied.sizeBytes, limit_bytes: limits.csvBytes },
    });
  }
}

/** Rows judged together: one round trip to the database, and what memory holds of the file. */
export const CHUNK_ROWS = 10_000;
const CHUNK_CHARS = 8 * 1024 * 1024;
/** api.md, section 5: code points of every value but the transcript. */
const MAX_VALUE_CHARS = 255;
/** Calls announced together (announce-calls.ts). */
const PORTION_ROWS = 500;
const PORTION_CHARS = 4 * 1024 * 1024;

interface Row extends Candidate, RawRecord {
  readonly faults: readonly RowFault[];
}

async function intake(
  parts: Parts,
  owner: Owner,
  session: UploadSession,
  onError: 'reject' | 'skip',
  frozen: string,
  segmentTypes: ReadonlySet<string>,
): Promise<Batch> {
  const { store, objects, limits } = parts;
  const { firmUuid } = owner;
  const batchUuid = uuidv7();
  return Intake.open(
    { db: store.intake, bus: parts.bus },
    { sessionUuid: session.uuid, batchUuid, firmUuid },
    () => store.batches.ofSession(firmUuid, session.uuid),
    async (taking) => {
      const file = await readCsv(await objects.open(frozen), transcriptionColumns, {
        maxBytes: limits.csvBytes,
        maxRows: limits.csvRows,
        maxTextBytes: limits.transcriptBytes,
      });
      const refusals = new Refusals(objects, store.batches, firmUuid, file);
      const portions = new Portions();
      const counts = { rows: 0, accepted: 0, duplicates: 0 };
      try {
        const check = checkTranscriptionRow(file, {
          segmentTypes,
          maxTextBytes: limits.transcriptBytes,
          maxValueChars: MAX_VALUE_CHARS,
        });
        const judge = async (rows: readonly Row[], prepared: Prepared) => {
          const verdicts = await taking.take(prepared);
          for (const [index, row] of rows.entries()) {
            const verdict = verdicts[index]!;
            if (verdict.is === 'accepted') {
              counts.accepted++;
              portions.add(verdict.uuid, row.record!.anonymizedText.length);
            } else if (verdict.is === 'duplicate') counts.duplicates++;
            else await refusals.add(row, faultsOf(row, verdict));
          }
        };
        // While the database takes one chunk in, the next is read, checked and made ready.
        let judging = Promise.resolve();
        try {
          for await (const rows of chunks(file.batches, check)) {
            counts.rows += rows.length;
            const prepared = taking.prepare(rows);
            await judging;
            judging = judge(rows, prepared);
            judging.catch(() => {});
          }
        } finally {
          await judging;
        }
        const rejectedUuid = await refusals.end();
        if (refusals.rows > 0 && onError === 'reject') throw refusals.fault(counts.rows);
        const batch = {
          uuid: batchUuid,
          sessionUuid: session.uuid,
          firmUuid,
          kind: 'transcription',
          accepted: counts.accepted,
          duplicates: counts.duplicates,
          rejected: refusals.rows,
          ignoredColumns: [...file.ignoredColumns],
          rejectedUuid,
          ...portions.span(),
          createdAt: taking.now,
        };
        const [first, ...later] = portions.all();
        const about = { firmuuid: firmUuid, turn: 0, traceparent: currentContext()?.traceparent };
        await taking.seal(batch, [
          ...(first === undefined ? [] : await announcements(parts, taking.sql, batchUuid, first, about)),
          ...later.map((portion, index) => accepted(batch, portion, index + 1)),
        ]);
        return batch;
      } catch (error) {
        await refusals.abandon(error);
        throw error;
      }
    },
  );
}

function faultsOf(row: Row, verdict: Verdict): readonly RowFault[] {
  if (verdict.is !== 'repeated') return row.faults;
  const message = 'Another row above has the same partner_call_id. Remove one of them, or give it an id of its own.';
  return [...row.faults, rowFault(row.row, 'partner_call_id', row.partnerCallId ?? '', 'DUPLICATE_ROW', message)];
}

async function* chunks(
  batches: AsyncIterable<readonly RawRecord[]>,
  check: ReturnType<typeof checkTranscriptionRow>,
): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  let chars = 0;
  for await (const batch of batches) {
    for (const raw of batch) {
      const { record, partnerCallId, faults } = check(raw);
      rows.push({ ...raw, record, partnerCallId, faults });
      chars += record?.anonymizedText.length ?? raw.fields.reduce((sum, field) => sum + field.length, 0);
      if (rows.length < CHUNK_ROWS && chars < CHUNK_CHARS) continue;
      yield rows;
      rows = [];
      chars = 0;
    }
  }
  if (rows.length > 0) yield rows;
}

interface Portion {
  readonly first: string;
  readonly last: string;
}

/** Cuts the accepted calls, which come in the order of their uuids, into portions to announce together. */
class Portions {
  readonly #portions: { first: string; last: string }[] = [];
  #rows = 0;
  #chars = 0;

  add(uuid: string, chars: number): void {
    const current = this.#portions.at(-1);
    if (current === undefined || this.#rows >= PORTION_ROWS || this.#chars >= PORTION_CHARS) {
      this.#portions.push({ first: uuid, last: uuid });
      this.#rows = 0;
      this.#chars = 0;
    } else current.last = uuid;
    this.#rows++;
    this.#chars += chars;
  }

  all(): readonly Portion[] {
    return this.#portions;
  }

  span(): { firstCall: string | null; lastCall: string | null } {
    return { firstCall: this.#portions.at(0)?.first ?? null, lastCall: this.#portions.at(-1)?.last ?? null };
  }
}

function accepted(
  batch: { uuid: string; firmUuid: string },
  portion: Portion,
  turn: number,
): Event<BodyOf<typeof CallsAccepted>> {
  return {
    id: uuidv7(),
    source: 'ingest',
    type: CallsAccepted.type,
    time: new Date().toISOString(),
    subject: batch.uuid,
    firmuuid: batch.firmUuid,
    turn,
    traceparent: currentContext()?.traceparent,
    data: portion,
  };
}
