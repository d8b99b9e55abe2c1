import { Fault } from '@call-analysis/fault';
import { decodeText } from './decode-text.ts';
import { emptyFile, findHeader, type Column, type FoundHeader, type Header } from './header.ts';
import { CsvScanner, type RawRecord } from './scanner.ts';

export type { Column, Header } from './header.ts';
export type { RawRecord } from './scanner.ts';

export interface CsvLimits {
  readonly maxBytes: number;
  /** Records, not counting the header and blank records. */
  readonly maxRows: number;
  /** The longest value of a `long` column, in bytes of UTF-8. */
  readonly maxTextBytes: number;
}

export interface CsvFile extends Header {
  /**
   * All records in batches of at most BATCH_ROWS. They are read on demand, and can be read only once. Leaving the loop
   * early closes the source, and so does a fault. Strings share memory with the piece of the file they come from: copy
   * any that outlive their batch.
   */
  readonly batches: AsyncIterable<RawRecord[]>;
}

/** The most records in one batch. */
export const BATCH_ROWS = 1000;

/** Well above the limit of 255 code points: a short value with much padding is not mistaken for one that is too long. */
const KEEP_CHARS = 4096;
/** Kept of a value in an ignored column: the capacity of a spreadsheet cell. */
const KEEP_IGNORED_CHARS = 32_767;
/** Kept of all ignored columns of one record together. */
const KEEP_IGNORED_CHARS_OF_RECORD = 4 * 1024 * 1024;

/**
 * Reads a CSV file (docs/api.md, "Presigned uploads") as a stream. Memory does not grow with the file, its records or
 * its fields. Resolves when the header has been read and is valid.
 *
 * This function and the loop over `batches` throw the faults of the file as such: INVALID_ENCODING, INVALID_CSV,
 * MISSING_COLUMN, DUPLICATE_COLUMN, EMPTY_FILE, FILE_TOO_LARGE, TOO_MANY_ROWS. A fault may follow many batches, so
 * nothing may be kept of a file before the loop has ended.
 */
export async function readCsv(
  bytes: AsyncIterable<Uint8Array>,
  known: readonly Column[],
  limits: CsvLimits,
): Promise<CsvFile> {
  let scanner: CsvScanner | null = null;
  const texts = decodeText(bytes, limits.maxBytes, () => scanner?.row ?? 1);
  let found: FoundHeader;
  try {
    found = await readHeader(texts, known);
  } catch (error) {
    await texts.return();
    throw error;
  }
  const { rest, nextRow, ...header } = found;
  scanner = recordScanner(header, nextRow, known, limits);
  return { ...header, batches: readBatches(scanner, rest, texts) };
}

async function readHeader(texts: AsyncGenerator<string, void>, known: readonly Column[]): Promise<FoundHeader> {
  let text = '';
  for (;;) {
    const piece = await texts.next();
    if (piece.done !== true) text += piece.value;
    const found = findHeader(text, piece.done === true, known);
    if (found !== null) return found;
  }
}

function recordScanner(header: Header, row: number, known: readonly Column[], limits: CsvLimits): CsvScanner {
  const keep: (number | null)[] = header.names.map(() => null);
  for (const column of known) {
    const index = header.columns.get(column.name);
    if (index !== undefined) keep[index] = column.long === true ? limits.maxTextBytes + KEEP_CHARS : KEEP_CHARS;
  }
  return new CsvScanner(
    {
      separator: header.separator,
      width: header.names.length,
      keep,
      keepIgnored: KEEP_IGNORED_CHARS,
      keepIgnoredOfRecord: KEEP_IGNORED_CHARS_OF_RECORD,
      maxRows: limits.maxRows,
      batchRows: BATCH_ROWS,
    },
    row,
  );
}

async function* readBatches(
  scanner: CsvScanner,
  rest: string,
  texts: AsyncGenerator<string, void>,
): AsyncGenerator<RawRecord[], void> {
  try {
    scanner.push(rest);
    for (;;) {
      for (let batch = scanner.next(); batch !== null; batch = scanner.next()) yield batch;
      const piece = await texts.next();
      if (piece.done === true) break;
      scanner.push(piece.value);
    }
    const last = scanner.end();
    if (last !== null) yield last;
    if (scanner.records === 0) throw emptyFile();
  } finally {
    await texts.return();
  }
}

/** How many batches are read ahead for each batch that is taken in. */
const AHEAD = 64;

/**
 * The batches of a file, which is read to its end ahead of the intake of its rows: that takes twenty times as long, and a
 * fault in the last line is found before most rows are stored in vain. Most of the reading is done while the database
 * stores rows. A short file is read once. `open` opens the file again.
 */
export async function* lookingAhead(
  { batches }: Pick<CsvFile, 'batches'>,
  open: () => Promise<Pick<CsvFile, 'batches'>>,
): AsyncGenerator<RawRecord[]> {
  let ahead: AsyncIterator<unknown> | null = null;
  let isDone = false;
  let isFirst = true;
  try {
    for await (const batch of batches) {
      if (!isFirst) await proceed();
      isFirst = false;
      yield batch;
    }
  } finally {
    isDone = true;
    await (ahead as AsyncIterator<unknown> | null)?.return?.();
  }

  async function proceed(): Promise<void> {
    if (isDone) return;
    try {
      ahead ??= (await open()).batches[Symbol.asyncIterator]();
      for (let count = 0; count < AHEAD && !isDone; count++) isDone = (await ahead.next()).done === true;
    } catch (error) {
      isDone = true;
      // Any other error, as of the object store, is the intake's own to meet.
      if (error instanceof Fault && error.kind === 'invalid') throw error;
    }
  }
}
