import { Readable } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import { type Column, type CsvFile, type RawRecord, readCsv } from '../csv/reader.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { audioColumns, transcriptColumns } from '../rows/call-fields.ts';
import { parseStartTime, parseTranscriptionStartTime } from '../rows/start-time.ts';
import { copiedHeader, copiedLine } from './copied-rows.ts';
import type { RejectedFile, RejectedFiles } from './rejected-file-store.ts';
import { type CallIdentity, keysOfCopies } from './rejected-filter.ts';

export interface RemoveCopiesDeps {
  readonly db: Database;
  readonly rejectedFiles: RejectedFiles;
  readonly objects: Objects;
  readonly limits: { readonly transcriptBytes: number };
}

/** While rewrites of a file wait for each other, only one holds a connection. */
const oneRewrite = new KeyedMutex();

/**
 * Removes the copies of a call from its firm's rejected CSVs: an accepted call may have been rejected before. Rows of
 * other calls stay, and a file without any is deleted. Returns the number of removed rows.
 */
export async function removeRejectedCopies(deps: RemoveCopiesDeps, call: CallIdentity): Promise<number> {
  let rows = 0;
  for (const file of await deps.rejectedFiles.filesWith(call.firmUuid, keysOfCopies(call), new Date())) {
    if ((await countRows(deps, file.objectKey, call)).copies === 0) continue;
    rows += await oneRewrite.run(file.uuid, () => rewrite(deps, file, call));
  }
  return rows;
}

/** Holds a lock on the file in all processes: of two concurrent rewrites each would restore the rows the other removes. */
async function rewrite(deps: RemoveCopiesDeps, { uuid, objectKey }: RejectedFile, call: CallIdentity): Promise<number> {
  const { db, rejectedFiles, objects } = deps;
  return db.transaction(async (tx) => {
    await rejectedFiles.lock(tx, uuid);
    const found = await countRows(deps, objectKey, call);
    if (found.copies === 0) return 0;
    if (found.others > 0) {
      await objects.put(objectKey, Readable.from(withoutCopies(deps, objectKey, call), { objectMode: false }));
    } else {
      await objects.remove(objectKey);
      await rejectedFiles.forget(uuid, tx);
    }
    return found.copies;
  });
}

async function countRows(
  deps: RemoveCopiesDeps,
  key: string,
  call: CallIdentity,
): Promise<{ copies: number; others: number }> {
  const counts = { copies: 0, others: 0 };
  const file = await open(deps, key);
  // The sweep removed it in the meantime.
  if (file === null) return counts;
  const isCopy = copyTest(file, call);
  for await (const records of file.batches) {
    for (const record of records) counts[isCopy(record) ? 'copies' : 'others'] += 1;
  }
  return counts;
}

async function* withoutCopies(deps: RemoveCopiesDeps, key: string, call: CallIdentity): AsyncGenerator<string> {
  const file = await open(deps, key);
  if (file === null) throw new Error(`the rejected CSV was removed while it was rewritten: ${key}`);
  const isCopy = copyTest(file, call);
  yield copiedHeader(file);
  for await (const records of file.batches) {
    yield records
      .filter((record) => !isCopy(record))
      .map(({ fields }) => copiedLine(file, fields))
      .join('');
  }
}

/** The columns of both kinds of upload. None is required, because a rejected file may lack any. */
const columns: readonly Column[] = [
  ...new Map(
    [...audioColumns, ...transcriptColumns].map((column) => [column.name, { ...column, required: false }]),
  ).values(),
];

async function open({ objects, limits }: RemoveCopiesDeps, key: string): Promise<CsvFile | null> {
  const bytes = await objects.open(key).catch((error: unknown) => {
    if (error instanceof Fault && error.kind === 'not-found') return null;
    throw error;
  });
  const unbounded = { maxBytes: Infinity, maxRows: Infinity, maxTextBytes: limits.transcriptBytes };
  return bytes === null ? null : readCsv(bytes, columns, unbounded);
}

/**
 * A row is a copy when it has the call's partner_call_id, or has none and the same phone number, start time and text.
 * Neither a recording nor its row has a text.
 */
function copyTest({ columns: positions }: CsvFile, call: CallIdentity): (record: RawRecord) => boolean {
  const at = (name: string) => positions.get(name) ?? -1;
  const [id, phone, time, text] = [
    at('partner_call_id'),
    at('client_phone_number'),
    at('start_time'),
    at('anonymized_text'),
  ];
  const startMs = call.startTime.getTime();
  return ({ fields }) => {
    const value = (position: number) => fields[position]?.trim() ?? '';
    const rowId = value(id);
    if (rowId !== '') return rowId === call.partnerCallId;
    if (value(phone) !== call.phone || value(text) !== (call.text ?? '')) return false;
    return [parseStartTime, parseTranscriptionStartTime].some((parse) => parse(value(time)) === startMs);
  };
}
