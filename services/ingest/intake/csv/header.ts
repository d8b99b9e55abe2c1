import { Fault } from '@call-analysis/fault';
import { excerpt, visible } from '../rows/row-fault.ts';
import { csvFault, CsvScanner, type RawRecord, type Separator } from './scanner.ts';

/** A column that the service reads. */
export interface Column {
  /** Lower-case. Names in files are compared after trimming and lower-casing. */
  readonly name: string;
  /** The file must have the column. Whether a record may leave it empty is for the check of the record. */
  readonly required: boolean;
  /** Up to `maxTextBytes` of its values are kept. Of other values, a few thousand characters are kept. */
  readonly long?: boolean;
}

/** The last column of the CSV of rejected rows, which may be uploaded unchanged. The column is known but not read. */
export const REJECT_REASON = 'reject_reason';

export interface Header {
  readonly separator: Separator;
  /** The file begins with a byte order mark. */
  readonly hasMark: boolean;
  /** A line `sep=` before the header names the separator. */
  readonly isDeclared: boolean;
  /** The names as they came. A column without a name has an empty one. */
  readonly names: readonly string[];
  /** The index of each known column by its name. A column that the file lacks is absent. */
  readonly columns: ReadonlyMap<string, number>;
  /** The names of all other columns, each once. A column without a name is `column 7`. */
  readonly ignoredColumns: readonly string[];
  /** The indexes of columns named `reject_reason`. */
  readonly rejectReasons: readonly number[];
}

/** The header, and the text after it. */
export interface FoundHeader extends Header {
  readonly rest: string;
  /** The row of the first record. */
  readonly nextRow: number;
}

/** The most columns of a spreadsheet. */
const MAX_COLUMNS = 16_384;
/** The longest header in UTF-16 units: 64 for each possible column. */
const HEADER_CHARS = 1024 * 1024;
const IGNORED_NAME_CHARS = 255;
/** Names that a message lists. */
const SHOWN_NAMES = 20;

const BYTE_ORDER_MARK = '\ufeff';
/** Spreadsheets also accept the line in quotes. */
const SEPARATOR_LINE = /^("?)sep=([,;\t])\1\r?\n/i;

/**
 * Finds the header at the beginning of a file, after a byte order mark if there is one, and the separator: the one
 * that a first line `sep=` names, else the one that yields most known columns, else most columns. Null when `text`
 * ends too early to decide. `isAll` means that no more text follows.
 * Faults: INVALID_CSV, EMPTY_FILE, MISSING_COLUMN, DUPLICATE_COLUMN.
 */
export function findHeader(text: string, isAll: boolean, known: readonly Column[]): FoundHeader | null {
  const hasMark = text.startsWith(BYTE_ORDER_MARK);
  const unmarked = hasMark ? text.slice(BYTE_ORDER_MARK.length) : text;
  const declared = SEPARATOR_LINE.exec(unmarked);
  const body = declared === null ? unmarked : unmarked.slice(declared[0].length);
  const separators: Separator[] = declared === null ? [',', ';', '\t'] : [declared[2] as Separator];
  let best: { separator: Separator; record: RawRecord; rest: string; rank: number } | null = null;
  let undecided = false;
  let fault: Fault | null = null;
  for (const separator of separators) {
    const scanner = headerScanner(separator);
    try {
      scanner.push(body);
      const record = (scanner.next() ?? (isAll ? scanner.end() : null))?.[0];
      if (record === undefined) {
        undecided = true;
        continue;
      }
      const rank = countKnown(record.fields, known) * (HEADER_CHARS * 2) + record.fields.length;
      if (best === null || rank > best.rank) best = { separator, record, rest: scanner.unread, rank };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      fault ??= error;
    }
  }
  const tooLong = body.length > HEADER_CHARS;
  if (undecided && !isAll && !tooLong) return null;
  // A fault under one separator says more than a header that another separator leaves as one unknown column.
  if (fault !== null && (best === null || best.rank === 1)) throw fault;
  if (best !== null && best.record.cut === null) {
    if (best.record.fields.length > MAX_COLUMNS) throw tooManyColumns(best.record.fields.length);
    const names = readNames(best.record.fields, best.separator, known);
    return { ...names, hasMark, isDeclared: declared !== null, rest: best.rest, nextRow: best.record.row + 1 };
  }
  if (tooLong) {
    throw csvFault(
      'INVALID_CSV',
      `The header row does not end within ${HEADER_CHARS} characters. ` +
        'Begin the file with one line of column names, and close every quote in it.',
      { row: 1 },
    );
  }
  throw emptyFile();
}

function tooManyColumns(count: number): Fault {
  return csvFault(
    'INVALID_CSV',
    `The header has ${count} columns. The limit is ${MAX_COLUMNS}. Keep only the columns of your calls.`,
    { row: 1 },
  );
}

/** The header lacks required columns. */
export class MissingColumns extends Fault {
  readonly #problem: string;
  readonly #names: readonly string[];

  constructor(problem: string, advice: string, names: readonly string[], details: Fault['details']) {
    super('invalid', 'MISSING_COLUMN', `${problem} ${advice}`, { details });
    this.#problem = problem;
    this.#names = names;
  }

  /** Whether the header has all that are required of these columns. */
  suits(known: readonly Column[]): boolean {
    const present = new Set(this.#names.map(normalName));
    return known.every(({ name, required }) => !required || present.has(name));
  }

  /** The same fault with better advice. */
  advising(advice: string): MissingColumns {
    return new MissingColumns(this.#problem, advice, this.#names, this.details);
  }
}

export function emptyFile(): Fault {
  return csvFault('EMPTY_FILE', 'The CSV has no records. Send a header row and at least one row below it.');
}

function headerScanner(separator: Separator): CsvScanner {
  return new CsvScanner({
    separator,
    width: Infinity,
    keep: [],
    keepIgnored: HEADER_CHARS,
    keepIgnoredOfRecord: HEADER_CHARS,
    maxRows: 1,
    batchRows: 1,
  });
}

function countKnown(names: readonly string[], known: readonly Column[]): number {
  const present = new Set(names.map(normalName));
  return known.filter((column) => present.has(column.name)).length;
}

function normalName(name: string): string {
  return name.trim().toLowerCase();
}

function readNames(
  names: readonly string[],
  separator: Separator,
  known: readonly Column[],
): Omit<Header, 'hasMark' | 'isDeclared'> {
  const knownNames = new Set(known.map((column) => column.name));
  const columns = new Map<string, number>();
  const duplicates = new Set<string>();
  /** The names as first written, by their normalized form. */
  const ignored = new Map<string, string>();
  const rejectReasons: number[] = [];
  for (const [index, raw] of names.entries()) {
    const name = normalName(raw);
    if (name === REJECT_REASON) rejectReasons.push(index);
    else if (name === '') ignored.set(`column ${index + 1}`, `column ${index + 1}`);
    else if (!knownNames.has(name)) ignored.set(name, ignored.get(name) ?? excerpt(raw.trim(), IGNORED_NAME_CHARS));
    else if (columns.has(name)) duplicates.add(name);
    else columns.set(name, index);
  }
  const missing = known.filter((column) => column.required && !columns.has(column.name)).map((column) => column.name);
  if (missing.length > 0) throw missingColumns(missing, [...duplicates], names, separator);
  if (duplicates.size > 0) {
    throw csvFault('DUPLICATE_COLUMN', duplicateSentence([...duplicates]), { columns: [...duplicates] });
  }
  return { separator, names, columns, ignoredColumns: [...ignored.values()], rejectReasons };
}

function duplicateSentence(names: readonly string[]): string {
  return `The header names these columns more than once: ${names.join(', ')}. Keep one of each.`;
}

function missingColumns(
  missing: readonly string[],
  duplicates: readonly string[],
  names: readonly string[],
  separator: Separator,
): Fault {
  const by = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' }[separator];
  const named = names.map((name) => name.trim()).filter((name) => name !== '');
  const shown = named.slice(0, SHOWN_NAMES).map((name) => visible(name.length > 64 ? `${name.slice(0, 64)}…` : name));
  const more = named.length > SHOWN_NAMES ? ` and ${named.length - SHOWN_NAMES} more` : '';
  const problem =
    `The header lacks these columns: ${missing.join(', ')}. ` +
    `Split by ${by} it has: ${shown.join(', ')}${more}.` +
    (duplicates.length > 0 ? ` ${duplicateSentence(duplicates)}` : '');
  const details = { columns: missing, duplicate_columns: duplicates };
  const isForm = names.length === 1 && /^--\S+$/.test(named[0] ?? '');
  const advice = isForm
    ? 'This is a form that contains the CSV. Put the bytes of the file itself, as curl -T does, not a form.'
    : 'Add the missing columns to the first row.';
  return new MissingColumns(problem, advice, names, details);
}
