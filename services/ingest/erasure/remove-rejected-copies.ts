import { Readable } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type Column, type CsvFile, type RawRecord, readCsv } from '../intake/csv/reader.ts';
import { copiedHeader, copiedLine } from '../intake/csv/rejected.ts';
import { audioColumns } from '../intake/rows/audio-record.ts';
import { parseStartTime, parseTranscriptionStartTime } from '../intake/rows/start-time.ts';
import { transcriptColumns } from '../intake/rows/transcript-record.ts';
import type { RecognizableCall, RejectedFile, Store } from '../store/index.ts';

interface Parts {
  readonly store: Store;
  readonly objects: Objects;
  readonly limits: { readonly transcriptBytes: number };
}

/**
 * Removes the copies of a call from its firm's CSVs of refused rows: a call that was accepted in the end may have been
 * refused before. Rows of other calls stay; a file without any is removed. Returns how many rows went.
 */
export async function removeRefusedCopies(parts: Parts, call: RecognizableCall): Promise<number> {
  let rows = 0;
  for (const file of await parts.store.batches.rejectedOf(call.firmUuid, new Date())) {
    if ((await countRows(parts, file.objectKey, call)).copies === 0) continue;
    rows += await inTurn(file.uuid, () => rewrite(parts, file, call));
  }
  return rows;
}

/** One at a time, whichever replica does it: two at once would each bring back the rows that the other takes out. */
async function rewrite(parts: Parts, { uuid, objectKey }: RejectedFile, call: RecognizableCall): Promise<number> {
  const { store, objects } = parts;
  return store.db.transaction(async (tx) => {
    await store.batches.lockRejected(tx, uuid);
    const found = await countRows(parts, objectKey, call);
    if (found.copies === 0) return 0;
    if (found.others > 0) {
      await objects.put(objectKey, Readable.from(othersOf(parts, objectKey, call), { objectMode: false }));
    } else {
      await objects.remove(objectKey);
      await store.batches.forgetRejected(uuid, tx);
    }
    return found.copies;
  });
}

/** By file. Of those that wait in one process, one alone holds a connection meanwhile. */
const turns = new Map<string, Promise<void>>();

async function inTurn<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const mine = (turns.get(file) ?? Promise.resolve()).then(work);
  const ended = mine.then(
    () => {},
    () => {},
  );
  turns.set(file, ended);
  try {
    return await mine;
  } finally {
    if (turns.get(file) === ended) turns.delete(file);
  }
}

async function countRows(
  parts: Parts,
  key: string,
  call: RecognizableCall,
): Promise<{ copies: number; others: number }> {
  const counts = { copies: 0, others: 0 };
  const file = await open(parts, key);
  // It was swept away meanwhile.
  if (file === null) return counts;
  const isCopy = copyOf(file, call);
  for await (const records of file.batches) {
    for (const record of records) counts[isCopy(record) ? 'copies' : 'others'] += 1;
  }
  return counts;
}

async function* othersOf(parts: Parts, key: string, call: RecognizableCall): AsyncGenerator<string> {
  const file = await open(parts, key);
  if (file === null) throw new Error(`the CSV of refused rows went while it was rewritten: ${key}`);
  const isCopy = copyOf(file, call);
  yield copiedHeader(file);
  for await (const records of file.batches) {
    yield records
      .filter((record) => !isCopy(record))
      .map(({ fields }) => copiedLine(file, fields))
      .join('');
  }
}

/** What either kind of upload knows; nothing is required, for the file came in with whatever it had. */
const columns: readonly Column[] = [
  ...new Map(
    [...audioColumns, ...transcriptColumns].map((column) => [column.name, { ...column, required: false }]),
  ).values(),
];

async function open({ objects, limits }: Parts, key: string): Promise<CsvFile | null> {
  const bytes = await objects.open(key).catch((error: unknown) => {
    if (error instanceof Fault && error.kind === 'not-found') return null;
    throw error;
  });
  const unbounded = { maxBytes: Infinity, maxRows: Infinity, maxTextBytes: limits.transcriptBytes };
  return bytes === null ? null : readCsv(bytes, columns, unbounded);
}

/** Whether a row has the call's id or its text, or its phone number with its time or its file. */
function copyOf({ columns: places }: CsvFile, call: RecognizableCall): (record: RawRecord) => boolean {
  const at = (name: string) => places.get(name) ?? -1;
  const [id, phone, time, text, file] = [
    at('partner_call_id'),
    at('client_phone_number'),
    at('start_time'),
    at('anonymized_text'),
    at('audio_file_name'),
  ];
  const startMs = call.startTime.getTime();
  return ({ fields }) => {
    const value = (place: number) => fields[place]?.trim() ?? '';
    if (call.partnerCallId !== null && value(id) === call.partnerCallId) return true;
    if (call.text !== null && value(text) === call.text) return true;
    if (value(phone) !== call.phone) return false;
    if (call.fileName !== null && value(file) === call.fileName) return true;
    return [parseStartTime, parseTranscriptionStartTime].some((parse) => parse(value(time)) === startMs);
  };
}
