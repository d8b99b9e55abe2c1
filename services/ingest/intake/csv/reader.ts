import { emptyFile, findHeader, type Column, type FoundHeader, type Header } from './header.ts';
import { CsvScanner, type RawRecord } from './scanner.ts';
import { readText } from './text.ts';

export type { Column, Header } from './header.ts';
export type { RawRecord } from './scanner.ts';

export interface CsvLimits {
  readonly maxBytes: number;
  /** Records, the header and blank ones not counted. */
  readonly maxRows: number;
  /** The longest value of a `long` column, in bytes of UTF-8. */
  readonly maxTextBytes: number;
}

export interface CsvFile extends Header {
  /**
   * All records in batches of at most BATCH_ROWS, read on demand and once. Leaving the loop early closes the source;
   * so does a fault. Strings share memory with the piece of the file they come from: copy what outlives its batch.
   */
  readonly batches: AsyncIterable<RawRecord[]>;
}

/** The most records in one batch. */
export const BATCH_ROWS = 1000;

/** Above the limit of 255 code points by a margin, so that a value that is merely padded is not taken for too long. */
const KEEP_CHARS = 4096;
/** Of a column that nobody reads: what one cell of a spreadsheet can hold. */
const KEEP_IGNORED_CHARS = 32_767;
/** Of all such columns of one record together. */
const KEEP_IGNORED_CHARS_OF_RECORD = 4 * 1024 * 1024;

/**
 * Reads a CSV file (api.md, section 5, "CSV") as it streams in, in memory that does not grow with the file, its
 * records or its fields. Resolves when the header is read and good.
 *
 * Faults, from here or from the loop over `batches`, are those of the whole file: INVALID_ENCODING, INVALID_CSV,
 * MISSING_COLUMN, DUPLICATE_COLUMN, EMPTY_FILE, FILE_TOO_LARGE, TOO_MANY_ROWS. As one may come after many batches,
 * nothing that was read holds before the loop has ended.
 */
export async function readCsv(
  bytes: AsyncIterable<Uint8Array>,
  known: readonly Column[],
  limits: CsvLimits,
): Promise<CsvFile> {
  let scanner: CsvScanner | null = null;
  const texts = readText(bytes, limits.maxBytes, () => scanner?.row ?? 1);
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
