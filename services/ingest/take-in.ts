import type { Bus } from '@call-analysis/bus';
import { CallsAccepted } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { currentContext } from '@call-analysis/runtime';
import { v7 as uuidv7 } from 'uuid';
import { announcements } from './announce-calls.ts';
import { admit } from './campaigns/admit.ts';
import type { Limits } from './config.ts';
import { readCsv } from './csv/reader.ts';
import type { CsvFile, RawRecord } from './csv/reader.ts';
import { fact } from './fact.ts';
import { Portions } from './portions.ts';
import { Refusals } from './refusals.ts';
import type { CallRecord } from './rows/call-record.ts';
import type { RowFault } from './rows/row-fault.ts';
import { rowFault } from './rows/row-fault.ts';
import type { Archive, Batch, Store } from './store/index.ts';
import type { Candidate, Prepared, Verdict } from './store/intake.ts';
import { Intake } from './store/intake.ts';
import { type Actor, deedDone } from './tell-deed.ts';
import type { FileCheck, UploadKind } from './upload-kinds.ts';

/** An upload whose bytes can no longer change. */
export interface FrozenUpload {
  readonly firmUuid: string;
  readonly actor: Actor;
  readonly campaignUuid: string | null;
  readonly sessionUuid: string;
  readonly csvKey: string;
  readonly archive: Archive | null;
  readonly onError: 'reject' | 'skip';
}

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly limits: Limits;
}

/** Rows judged together: one round trip to the database, and what memory holds of the file. */
export const CHUNK_ROWS = 10_000;
const CHUNK_CHARS = 8 * 1024 * 1024;

interface Row<Record extends CallRecord> extends Candidate<Record>, RawRecord {
  readonly faults: readonly RowFault[];
}

/** Makes the rows of an upload calls, all or (with `skip`) all that are good, in one transaction with their batch. */
export async function takeIn<Record extends CallRecord>(
  parts: Parts,
  upload: FrozenUpload,
  kind: UploadKind<Record>,
): Promise<Batch> {
  const { store, bus } = parts;
  const { firmUuid, campaignUuid, sessionUuid } = upload;
  return Intake.open(
    { db: store.intake, bus },
    { sessionUuid, firmUuid, campaignUuid, batchUuid: uuidv7(), copies: kind.copies },
    () => store.batches.ofSession(firmUuid, sessionUuid),
    (taking) => takeRows(parts, upload, kind, taking),
  );
}

async function takeRows<Record extends CallRecord>(
  parts: Parts,
  { firmUuid, actor, campaignUuid, sessionUuid, csvKey, archive, onError }: FrozenUpload,
  kind: UploadKind<Record>,
  taking: Intake<Record>,
): Promise<Batch> {
  const { store, objects, limits } = parts;
  const file = await readCsv(await objects.open(csvKey), kind.columns, {
    maxBytes: limits.csvBytes,
    maxRows: limits.csvRows,
    maxTextBytes: limits.transcriptBytes,
  });
  const rules = await kind.begin(file);
  const refusals = new Refusals(objects, store.batches, firmUuid, file);
  const portions = new Portions();
  try {
    const counts = await judgeRows(file, rules, kind, taking, refusals, portions);
    refusals.addUnnamed(rules.unnamed());
    const rejectedUuid = await refusals.end();
    if (refusals.any && onError === 'reject') throw refusals.fault(counts.rows);
    const isArchiveNeeded = counts.accepted > 0;
    const batch = {
      uuid: taking.batchUuid,
      sessionUuid,
      firmUuid,
      campaignUuid,
      kind: kind.name,
      accepted: counts.accepted,
      duplicates: counts.duplicates,
      rejected: refusals.rows,
      ignoredColumns: [...file.ignoredColumns],
      rejectedUuid,
      ...portions.span(),
      archiveKey: isArchiveNeeded ? (archive?.key ?? null) : null,
      archiveBytes: isArchiveNeeded ? (archive?.bytes ?? null) : null,
      createdAt: taking.now,
    };
    const [first, ...later] = portions.all();
    await admit(store, taking.sql, { firmUuid, campaignUuid }, batch.accepted);
    const about = { firmuuid: firmUuid, turn: 0, traceparent: currentContext()?.traceparent };
    await taking.seal(batch, [
      ...(campaignUuid === null ? [] : [deedDone(actor, 'campaign.calls_added', campaignUuid)]),
      ...(first === undefined ? [] : await announcements(parts, taking.sql, batch, first, about)),
      ...later.map((portion, index) => fact(CallsAccepted, batch.uuid, { ...about, turn: index + 1 }, portion)),
    ]);
    return batch;
  } catch (error) {
    await refusals.abandon(error);
    throw error;
  }
}

async function judgeRows<Record extends CallRecord>(
  file: CsvFile,
  rules: FileCheck<Record>,
  kind: UploadKind<Record>,
  taking: Intake<Record>,
  refusals: Refusals,
  portions: Portions,
): Promise<{ rows: number; accepted: number; duplicates: number }> {
  const counts = { rows: 0, accepted: 0, duplicates: 0 };
  const judge = async (rows: readonly Row<Record>[], prepared: Prepared<Record>) => {
    const verdicts = await taking.take(prepared);
    for (const [index, row] of rows.entries()) {
      const verdict = verdicts[index]!;
      if (verdict.is === 'accepted') {
        counts.accepted++;
        portions.add(verdict.uuid, kind.weight(row.record!));
      } else if (verdict.is === 'duplicate') counts.duplicates++;
      else await refusals.add(row, faultsOf(row, verdict));
    }
  };
  // While the database takes one chunk in, the next is read, checked and made ready.
  let judging = Promise.resolve();
  try {
    for await (const rows of chunks(file.batches, rules, kind)) {
      counts.rows += rows.length;
      const prepared = taking.prepare(rows);
      await judging;
      judging = judge(rows, prepared);
      judging.catch(() => {});
    }
  } finally {
    await judging;
  }
  return counts;
}

function faultsOf<Record extends CallRecord>(row: Row<Record>, verdict: Verdict): readonly RowFault[] {
  if (verdict.is !== 'repeated') return row.faults;
  const message = 'Another row above has the same partner_call_id. Remove one of them, or give it an id of its own.';
  return [...row.faults, rowFault(row.row, 'partner_call_id', row.partnerCallId ?? '', 'DUPLICATE_ROW', message)];
}

async function* chunks<Record extends CallRecord>(
  batches: AsyncIterable<readonly RawRecord[]>,
  { check }: FileCheck<Record>,
  { weight }: UploadKind<Record>,
): AsyncGenerator<Row<Record>[]> {
  let rows: Row<Record>[] = [];
  let chars = 0;
  for await (const batch of batches) {
    for (const raw of batch) {
      const { record, partnerCallId, faults } = check(raw);
      rows.push({ ...raw, record, partnerCallId, faults });
      chars += record === null ? raw.fields.reduce((sum, field) => sum + field.length, 0) : weight(record);
      if (rows.length < CHUNK_ROWS && chars < CHUNK_CHARS) continue;
      yield rows;
      rows = [];
      chars = 0;
    }
  }
  if (rows.length > 0) yield rows;
}
