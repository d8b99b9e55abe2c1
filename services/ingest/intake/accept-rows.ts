import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '@call-analysis/bus';
import { isFirmRemoved } from '@call-analysis/call-processing';
import { CallsAccepted, createEvent, type EventOrigin } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import type { Actor } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import { announcementEvents, type AnnouncementDeps } from '../batches/announce-calls.ts';
import type { CallRange } from '../batches/announcement-store.ts';
import type { Batch, Batches } from '../batches/batch-store.ts';
import type { Archive } from '../calls/recording-store.ts';
import { addCallsToCampaign, type CampaignDeps } from '../campaigns/add-calls.ts';
import { campaignAuditEntry } from '../campaigns/audit-entry.ts';
import type { Limits } from '../limits.ts';
import { CallRanges } from './call-ranges.ts';
import type { Chunk, RowOutcome } from './copy/chunk.ts';
import {
  type IntakeTransaction,
  intakeTransaction,
  lockSession,
  type NewBatch,
  SessionTaken,
} from './copy/intake-store.ts';
import { LookAhead } from './csv/look-ahead.ts';
import { type CsvFile, type RawRecord, readCsv } from './csv/reader.ts';
import { countEnded } from './new-call-store.ts';
import type { RejectedFiles } from './rejected/rejected-file-store.ts';
import { RejectedRows } from './rejected/rejected-rows.ts';
import type { CallRecord } from './rows/call-fields.ts';
import type { CheckedRow } from './rows/check-row.ts';
import { rowFault, type RowFault } from './rows/row-fault.ts';
import { withHint, type FileCheck, type UploadKind } from './upload-kinds.ts';

/** An upload whose files can no longer change. */
interface UploadSnapshot {
  readonly firmUuid: string;
  readonly actor: Actor;
  readonly campaignUuid: string | null;
  readonly sessionUuid: string;
  readonly csvKey: string;
  readonly archive: Archive | null;
  readonly onError: 'reject' | 'skip';
}

export interface AcceptDeps extends CampaignDeps, AnnouncementDeps {
  readonly db: Database;
  /** Connections that a large upload may hold for minutes. */
  readonly intake: Database;
  readonly batches: Batches;
  readonly rejectedFiles: RejectedFiles;
  readonly bus: Bus;
  readonly limits: Limits;
}

/**
 * The most rows of one COPY, and the most that memory holds of a file. With 2,000 rows PostgreSQL takes 8.6 instead of
 * 7.8 µs a row.
 */
export const CHUNK_ROWS = 4_000;
const CHUNK_CHARS = 8 * 1024 * 1024;

/** How often a request looks whether another process has finished with its upload session. */
const LOOK_EVERY_MS = 200;

/** Duplicates that are looked up to count calls that have ended. Sending a complete file again stays fast. */
const LOOKED_UP_DUPLICATES = 10_000;

/** A checked row without its record, which the chunk has encoded. */
interface PendingRow extends Omit<CheckedRow<CallRecord>, 'record'> {
  readonly raw: RawRecord;
  /** How much there will be to announce of its call, in characters. */
  readonly chars: number;
}

interface FilledChunk<Record extends CallRecord> {
  readonly rows: readonly PendingRow[];
  readonly chunk: Chunk<Record>;
}

interface Counts {
  rows: number;
  accepted: number;
  duplicates: number;
  /** Of the first duplicates, those whose call has permanently failed or was canceled. */
  endedDuplicates: number;
}

/**
 * Makes calls of the rows of an upload, of all or (with `skip`) of the valid ones, in one transaction with their batch.
 * Returns the batch that an earlier request for the same session made, if there is one.
 */
export async function acceptRows<Record extends CallRecord>(
  deps: AcceptDeps,
  upload: UploadSnapshot,
  kind: UploadKind<Record>,
): Promise<Batch> {
  const { batches, intake } = deps;
  const { firmUuid, campaignUuid, sessionUuid } = upload;
  const { cipher } = intake;
  const target = { sessionUuid, firmUuid, campaignUuid, batchUuid: uuidv7(), tables: kind.tables, cipher };
  for (;;) {
    try {
      return await intakeTransaction(intake, target, async (tx) => {
        const done = await batches.ofSession(firmUuid, sessionUuid);
        return done ?? acceptFile(deps, upload, kind, target.batchUuid, tx);
      });
    } catch (error) {
      if (!(error instanceof SessionTaken)) throw error;
      await untilFree(deps.db, sessionUuid);
    }
  }
}

/** Waits without a connection while another process is processing the upload session. */
export async function untilFree(db: Sql, sessionUuid: string): Promise<void> {
  for (;;) {
    try {
      return await lockSession(db, sessionUuid);
    } catch (error) {
      if (!(error instanceof SessionTaken)) throw error;
      await pause(LOOK_EVERY_MS);
    }
  }
}

async function acceptFile<Record extends CallRecord>(
  deps: AcceptDeps,
  upload: UploadSnapshot,
  kind: UploadKind<Record>,
  batchUuid: string,
  tx: IntakeTransaction<Record>,
): Promise<Batch> {
  const { bus, objects, limits } = deps;
  const { firmUuid, actor, campaignUuid, sessionUuid, csvKey, archive, onError } = upload;
  const open = async () =>
    readCsv(await objects.open(csvKey), kind.columns, {
      maxBytes: limits.csvBytes,
      maxRows: limits.csvRows,
      maxTextBytes: limits.transcriptBytes,
    });
  const file = await open().catch((error: unknown) => {
    throw withHint(error, kind);
  });
  const check = await kind.checkOf(file);
  const ahead = new LookAhead(open);
  const rejected = new RejectedRows(objects, deps.rejectedFiles, firmUuid, file);
  try {
    const { counts, ranges } = await insertRows(filledChunks(file, check, kind, tx, ahead), tx, rejected, (ids) =>
      countEnded(tx.sql, firmUuid, ids),
    );
    rejected.addUnnamedFiles(check.unnamedFiles());
    const rejectedUuid = await rejected.store();
    if (rejected.any && onError === 'reject') throw rejected.fault(counts.rows);
    const isArchiveNeeded = counts.accepted > 0;
    const batch: NewBatch = {
      uuid: batchUuid,
      sessionUuid,
      firmUuid,
      campaignUuid,
      kind: kind.name,
      accepted: counts.accepted,
      duplicates: counts.duplicates,
      endedDuplicates: counts.endedDuplicates,
      unnamedFiles: rejected.unnamedFiles,
      rejected: rejected.rows,
      ignoredColumns: [...file.ignoredColumns],
      rejectedUuid,
      firstCall: ranges.at(0)?.first ?? null,
      lastCall: ranges.at(-1)?.last ?? null,
      archiveKey: isArchiveNeeded ? (archive?.key ?? null) : null,
      archiveBytes: isArchiveNeeded ? (archive?.bytes ?? null) : null,
      createdAt: tx.now,
      erasedUntil: null,
    };
    // The firm may be removed while its file is read.
    if (await isFirmRemoved(tx.sql, firmUuid)) throw notFound('firm');
    await addCallsToCampaign(deps, tx.sql, { firmUuid, campaignUuid }, batch.accepted);
    const audit = campaignUuid === null ? [] : [campaignAuditEntry(actor, 'campaign.calls_added', campaignUuid)];
    await tx.addBatch(batch);
    await bus.publish(tx.sql, [...audit, ...(await firstEvents(deps, tx, batch, ranges))]);
    return batch;
  } catch (error) {
    await rejected.discard(error);
    throw error;
  } finally {
    await ahead.stop();
  }
}

/**
 * Announces the calls of the first range, and has the others announced range by range: the events of a million calls
 * would take several times as long to store as the calls themselves.
 */
async function firstEvents(
  deps: AcceptDeps,
  tx: IntakeTransaction<CallRecord>,
  batch: NewBatch,
  [first, ...later]: readonly CallRange[],
) {
  const origin: EventOrigin = { firmuuid: batch.firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  return [
    ...(first === undefined ? [] : await announcementEvents(deps, tx.sql, batch, first, origin)),
    ...later.map((range, index) =>
      createEvent('ingest', CallsAccepted, batch.uuid, { ...origin, priority: index + 1 }, range),
    ),
  ];
}

/** Inserts one chunk after the other. While the database inserts a chunk, the next one is read, checked and encoded. */
async function insertRows<Record extends CallRecord>(
  chunks: AsyncIterable<FilledChunk<Record>>,
  tx: IntakeTransaction<Record>,
  rejected: RejectedRows,
  countEnded: (partnerCallIds: readonly string[]) => Promise<number>,
): Promise<{ counts: Counts; ranges: readonly CallRange[] }> {
  const counts: Counts = { rows: 0, accepted: 0, duplicates: 0, endedDuplicates: 0 };
  const ranges = new CallRanges();
  const insert = async ({ rows, chunk }: FilledChunk<Record>) => {
    const outcomes = await tx.insert(chunk);
    const duplicateIds = rows
      .filter((_, index) => outcomes[index] === 'duplicate')
      .flatMap(({ partnerCallId }) => partnerCallId ?? [])
      .slice(0, Math.max(0, LOOKED_UP_DUPLICATES - counts.duplicates));
    if (duplicateIds.length > 0) counts.endedDuplicates += await countEnded(duplicateIds);
    for (const [index, row] of rows.entries()) {
      const outcome = outcomes[index]!;
      if (outcome === 'accepted') {
        counts.accepted++;
        ranges.add(chunk.uuids, chunk.uuidOffset(index), row.chars);
      } else if (outcome === 'duplicate') counts.duplicates++;
      else {
        const flushed = rejected.add(row.raw, faultsOf(row, outcome));
        if (flushed !== null) await flushed;
      }
    }
    tx.release(chunk);
  };
  let inserting = Promise.resolve();
  try {
    for await (const filled of chunks) {
      counts.rows += filled.rows.length;
      await inserting;
      inserting = insert(filled);
      inserting.catch(() => {});
    }
  } finally {
    await inserting;
  }
  return { counts, ranges: ranges.end() };
}

async function* filledChunks<Record extends CallRecord>(
  { batches }: CsvFile,
  { check }: FileCheck<Record>,
  { announcedChars }: UploadKind<Record>,
  tx: IntakeTransaction<Record>,
  ahead: LookAhead,
): AsyncGenerator<FilledChunk<Record>> {
  let rows: PendingRow[] = [];
  let chunk = tx.newChunk();
  let heldChars = 0;
  let isFirst = true;
  for await (const batch of batches) {
    if (!isFirst) await ahead.proceed();
    isFirst = false;
    for (const raw of batch) {
      const checked = check(raw);
      const { record, partnerCallId, faults } = checked;
      const chars = record === null ? 0 : announcedChars(record);
      chunk.add(checked);
      rows.push({ raw, partnerCallId, faults, chars });
      heldChars += record === null ? raw.fields.reduce((sum, field) => sum + field.length, 0) : chars;
      if (rows.length < CHUNK_ROWS && heldChars < CHUNK_CHARS) continue;
      yield { rows, chunk };
      rows = [];
      chunk = tx.newChunk();
      heldChars = 0;
    }
  }
  if (rows.length > 0) yield { rows, chunk };
}

function faultsOf({ raw, partnerCallId, faults }: PendingRow, outcome: RowOutcome): readonly RowFault[] {
  if (outcome !== 'repeated') return faults;
  const message =
    'An earlier row has the same partner_call_id. Remove one of the two rows, or give this one its own id.';
  return [...faults, rowFault(raw.row, 'partner_call_id', partnerCallId ?? '', 'DUPLICATE_ROW', message)];
}
