import { isFirmRemoved } from '@call-analysis/call-processing';
import { CallsAccepted, createEvent } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Database, Sql, Transaction } from '@call-analysis/postgres';
import type { Actor, Publishing } from '@call-analysis/service';
import { stringify, v7 as uuidv7 } from 'uuid';
import { announcementEvents, type AnnouncementDeps } from '../batches/announce-calls.ts';
import type { CallRange } from '../batches/announcement-store.ts';
import type { Batch, Batches } from '../batches/batch-store.ts';
import type { Archive } from '../calls/recording-store.ts';
import type { Campaigns } from '../campaigns/campaign-store.ts';
import { campaignAuditEntry } from '../campaigns/change-campaign.ts';
import type { Limits } from '../limits.ts';
import { UUID_BYTES } from './copy/binary-rows.ts';
import type { Chunk, PendingRow, RowOutcome } from './copy/chunk.ts';
import { CallCopy, COLLISIONS } from './copy/copy-store.ts';
import { lookingAhead, readCsv } from './csv/reader.ts';
import { countEnded } from './new-call-store.ts';
import type { RejectedFiles } from './rejected/rejected-file-store.ts';
import { RejectedRows } from './rejected/rejected-rows.ts';
import type { CallRecord } from './rows/call-fields.ts';
import { rowFault, type RowFault } from './rows/row-fault.ts';
import { type UploadKind, withHint } from './upload-kinds.ts';
import { lockSession, SessionTaken, untilFree } from './upload-store.ts';

/** An upload whose files can no longer change. */
interface UploadSnapshot {
  readonly actor: Actor;
  readonly campaignUuid: string | null;
  readonly sessionUuid: string;
  readonly csvKey: string;
  readonly archive: Archive | null;
  readonly onError: 'reject' | 'skip';
}

export interface AcceptDeps extends AnnouncementDeps, Publishing {
  /** Connections that a large upload may hold for minutes. */
  readonly intake: Database;
  readonly batches: Batches;
  readonly campaigns: Campaigns;
  readonly rejectedFiles: RejectedFiles;
  readonly limits: Limits;
}

/** Duplicates that are looked up to count calls that have ended. Sending a complete file again stays fast. */
const LOOKED_UP_DUPLICATES = 10_000;

/**
 * Makes calls of the rows of an upload, of all or (with `skip`) of the valid ones, in one transaction with their batch.
 * Returns the batch that an earlier request for the same session made, if there is one.
 */
export async function acceptRows<Record extends CallRecord>(
  deps: AcceptDeps,
  upload: UploadSnapshot,
  kind: UploadKind<Record>,
): Promise<Batch> {
  for (;;) {
    try {
      // When two uploads of a firm deadlock, one of them begins again.
      return await deps.intake.transaction((tx) => acceptFile(deps, upload, kind, tx), { retries: COLLISIONS });
    } catch (error) {
      if (!(error instanceof SessionTaken)) throw error;
      await untilFree(deps.db, upload.sessionUuid);
    }
  }
}

async function acceptFile<Record extends CallRecord>(
  deps: AcceptDeps,
  upload: UploadSnapshot,
  kind: UploadKind<Record>,
  tx: Transaction,
): Promise<Batch> {
  const { batches, bus, intake, objects, limits } = deps;
  const { actor, campaignUuid, sessionUuid, csvKey, archive, onError } = upload;
  const { firmUuid } = actor;
  await lockSession(tx, sessionUuid);
  const done = await batches.ofSession(firmUuid, sessionUuid);
  if (done !== null) return done;
  const batchUuid = uuidv7();
  const { cipher } = intake;
  const copy = await CallCopy.begin(tx, { firmUuid, batchUuid, campaignUuid, tables: kind.tables, cipher });
  const open = async () =>
    readCsv(await objects.open(csvKey), kind.columns, {
      maxBytes: limits.csvBytes,
      maxRows: limits.csvRows,
      maxTextBytes: limits.transcriptBytes,
    });
  const file = await open().catch((error: unknown) => {
    throw withHint(error, kind);
  });
  const { check, unnamedFiles } = await kind.checkOf(file);
  const rejected = new RejectedRows(objects, deps.rejectedFiles, firmUuid, file);
  const ranges = new CallRanges();
  let [rows, accepted, duplicates, endedDuplicates] = [0, 0, 0, 0];

  /** Inserts a chunk and notes what became of its rows. */
  async function insert(chunk: Chunk<Record>): Promise<void> {
    const outcomes = await copy.insert(chunk);
    const duplicateIds = chunk.rows
      .filter((_, index) => outcomes[index] === 'duplicate')
      .flatMap(({ partnerCallId }) => partnerCallId ?? [])
      .slice(0, Math.max(0, LOOKED_UP_DUPLICATES - duplicates));
    if (duplicateIds.length > 0) endedDuplicates += await countEnded(tx, firmUuid, duplicateIds);
    for (const [index, row] of chunk.rows.entries()) {
      const outcome = outcomes[index]!;
      if (outcome === 'accepted') {
        accepted++;
        ranges.add(chunk.uuids, chunk.uuidOffset(index), row.chars);
      } else if (outcome === 'duplicate') duplicates++;
      else await rejected.add(row.raw, faultsOf(row, outcome));
    }
  }

  /** While the database inserts a chunk, the next one is read, checked and encoded. */
  async function insertAll(): Promise<void> {
    let inserting = Promise.resolve();
    let chunk = copy.newChunk();
    const flush = async () => {
      await inserting;
      inserting = insert(chunk);
      inserting.catch(() => {});
      chunk = copy.newChunk();
    };
    try {
      for await (const records of lookingAhead(file, open)) {
        rows += records.length;
        for (const raw of records) {
          const checked = check(raw);
          chunk.add(raw, checked, checked.record === null ? 0 : kind.announcedChars(checked.record));
          if (chunk.isFull) await flush();
        }
      }
      if (chunk.rows.length > 0) await flush();
    } finally {
      await inserting;
    }
  }

  try {
    await insertAll();
    rejected.addUnnamedFiles(unnamedFiles());
    const rejectedUuid = await rejected.store();
    if (rejected.any && onError === 'reject') throw rejected.fault(rows);
    const announced = ranges.end();
    const kept = accepted > 0 ? archive : null;
    const batch: Batch = {
      uuid: batchUuid,
      sessionUuid,
      firmUuid,
      campaignUuid,
      kind: kind.name,
      accepted,
      duplicates,
      endedDuplicates,
      unnamedFiles: rejected.unnamedFiles,
      rejected: rejected.rows,
      ignoredColumns: [...file.ignoredColumns],
      rejectedUuid,
      firstCall: announced.at(0)?.first ?? null,
      lastCall: announced.at(-1)?.last ?? null,
      archiveKey: kept?.key ?? null,
      archiveBytes: kept?.bytes ?? null,
      createdAt: copy.now,
      erasedUntil: null,
    };
    // The firm may be removed while its file is read.
    if (await isFirmRemoved(tx, firmUuid)) throw notFound('firm');
    if (campaignUuid !== null) await deps.campaigns.addCalls(tx, firmUuid, campaignUuid, accepted);
    const audit = campaignUuid === null ? [] : [campaignAuditEntry(actor, 'campaign.calls_added', campaignUuid)];
    await batches.add(tx, batch);
    await bus.publish(tx, [...audit, ...(await firstEvents(deps, tx, batch, announced))]);
    return batch;
  } catch (error) {
    await rejected.discard(error);
    throw error;
  }
}

/**
 * Announces the calls of the first range, and has the others announced range by range: the events of a million calls
 * would take several times as long to store as the calls themselves.
 */
async function firstEvents(deps: AcceptDeps, tx: Sql, batch: Batch, [first, ...later]: readonly CallRange[]) {
  const origin = { firmuuid: batch.firmUuid };
  return [
    ...(first === undefined ? [] : await announcementEvents(deps, tx, batch, first, origin)),
    ...later.map((range, index) =>
      createEvent('ingest', CallsAccepted, batch.uuid, { ...origin, priority: index + 1 }, range),
    ),
  ];
}

function faultsOf({ raw, partnerCallId, faults }: PendingRow, outcome: RowOutcome): readonly RowFault[] {
  if (outcome !== 'repeated') return faults;
  const message =
    'An earlier row has the same partner_call_id. Remove one of the two rows, or give this one its own id.';
  return [...faults, rowFault(raw.row, 'partner_call_id', partnerCallId ?? '', 'DUPLICATE_ROW', message)];
}

/** The most calls that are announced together. */
const RANGE_CALLS = 500;
const RANGE_CHARS = 4 * 1024 * 1024;

/** Groups accepted calls, which come in the order of their uuids, into ranges. */
class CallRanges {
  readonly #ranges: CallRange[] = [];
  #first = '';
  readonly #last = new Uint8Array(UUID_BYTES);
  #calls = 0;
  #chars = 0;

  /** Adds the call whose uuid begins at `offset`. `chars` is how much there will be to announce of it. */
  add(uuids: Uint8Array, offset: number, chars: number): void {
    if (this.#calls >= RANGE_CALLS || this.#chars >= RANGE_CHARS) this.#close();
    for (let index = 0; index < UUID_BYTES; index++) this.#last[index] = uuids[offset + index]!;
    if (this.#calls === 0) this.#first = stringify(this.#last);
    this.#calls++;
    this.#chars += chars;
  }

  /** Call once, after the last call. */
  end(): readonly CallRange[] {
    if (this.#calls > 0) this.#close();
    return this.#ranges;
  }

  #close(): void {
    this.#ranges.push({ first: this.#first, last: stringify(this.#last) });
    this.#calls = 0;
    this.#chars = 0;
  }
}
