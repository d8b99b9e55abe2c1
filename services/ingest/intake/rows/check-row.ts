import type { Header, RawRecord } from '../csv/reader.ts';
import {
  type AudioRecord,
  audioFields,
  type Field,
  type FieldRules,
  type Fields,
  type RecordOf,
  type TranscriptRecord,
  transcriptFields,
} from './call-fields.ts';
import { sameChannel, segmentTypeRule } from './field-rules.ts';
import { rowFault, type RowFault, invisibleIn, type ValueFault } from './row-fault.ts';

export interface CallRules {
  /** The firm's names. */
  readonly segmentTypes: ReadonlySet<string>;
  /** The longest value other than a transcript, in code points. */
  readonly maxValueChars: number;
}

interface TranscriptRules extends CallRules {
  /** The longest `anonymized_text`, in bytes of UTF-8. */
  readonly maxTextBytes: number;
}

export interface CheckedRow<Record> {
  /** Null when the row has faults. */
  readonly record: Record | null;
  /** The row's partner_call_id, even when other values are at fault. Null when it is empty or cannot be stored. */
  readonly partnerCallId: string | null;
  /** All faults of the row, in the order of the file's columns. */
  readonly faults: readonly RowFault[];
}

/** Creates the check for the rows of one CSV of transcripts. */
export function checkTranscriptRow(
  { columns }: Pick<Header, 'columns'>,
  rules: TranscriptRules,
): (raw: RawRecord) => CheckedRow<TranscriptRecord> {
  const row = new RowReader(transcriptFields, columns, rules, 'all');
  return (raw) => row.read(raw).checked({});
}

/** Resolves a file name, given trimmed and as it came. Called once for every row that has a name. */
export type FileRule<File> = (name: string, untrimmed: string) => File | ValueFault;

/** The values that are trimmed before they are checked: all in a CSV, only names in the metadata of one upload. */
type Trimmed = 'all' | 'names';

/** Creates the check for the rows of one CSV of recordings, or for the metadata of one upload. */
export function checkAudioRow<File extends object>(
  { columns }: Pick<Header, 'columns'>,
  rules: CallRules,
  resolveFile: FileRule<File>,
  trimmed: Trimmed = 'all',
): (raw: RawRecord) => CheckedRow<AudioRecord<File>> {
  const row = new RowReader(audioFields, columns, { ...rules, maxTextBytes: 0 }, trimmed);
  return (raw) => {
    const { audioFileName, left, right } = row.read(raw).values;
    if (left !== null && left === right) row.fail('left', left, sameChannel);
    if (audioFileName === null) return row.rejected();
    const file = resolveFile(audioFileName, row.untrimmed('audioFileName'));
    if (!isFault(file)) return row.checked({ file });
    row.fail('audioFileName', audioFileName, file);
    return row.rejected();
  };
}

function isFault(value: object): value is ValueFault {
  return 'fault' in value;
}

type Values<Each extends Fields> = { [Name in keyof Each]: RecordOf<Each>[Name] | null };

/** Where a column is in the file (-1: the file lacks it), and how its values are read. */
interface Slot {
  readonly column: string;
  readonly index: number;
  /** The longest value in bytes of UTF-8. Null when code points are limited instead. */
  readonly maxBytes: number | null;
  readonly isTrimmed: boolean;
}

interface FieldSlot extends Slot {
  readonly name: string;
  readonly parse: Field['parse'];
  readonly isRequired: boolean;
  readonly fallback: Slot | null;
}

const NO_FAULTS: readonly RowFault[] = [];
const NO_ROW: RawRecord = { row: 0, fields: [], cut: null };

/**
 * Reads the fields of one row after another and collects the faults of each. Trimming is what `trim` does: it removes
 * Unicode white space, line ends and byte order marks. Control characters inside a value are allowed.
 */
class RowReader<Each extends Fields> {
  readonly #slots: readonly FieldSlot[];
  readonly #blank: Values<Each>;
  readonly #columns: Header['columns'];
  readonly #rules: FieldRules;
  readonly #maxChars: number;
  #raw = NO_ROW;
  #values: Values<Each>;
  /** Created with the first fault of the row: most rows have none. */
  #faults: RowFault[] | null = null;

  constructor(fields: Each, columns: Header['columns'], rules: TranscriptRules, trimmed: Trimmed) {
    const { segmentTypes, maxValueChars, maxTextBytes } = rules;
    const slot = (column: string, maxBytes: number | null, isName: boolean): Slot => {
      return { column, index: columns.get(column) ?? -1, maxBytes, isTrimmed: isName || trimmed === 'all' };
    };
    this.#slots = Object.entries(fields).map(
      ([name, { column, fallback, isRequired, isTranscript, isName, parse }]) => ({
        ...slot(column, isTranscript ? maxTextBytes : null, isName),
        name,
        parse,
        isRequired,
        fallback: fallback === null ? null : slot(fallback, null, isName),
      }),
    );
    this.#blank = Object.fromEntries(this.#slots.map(({ name }) => [name, null])) as Values<Each>;
    this.#values = this.#blank;
    this.#columns = columns;
    this.#rules = { segmentType: segmentTypeRule(segmentTypes) };
    this.#maxChars = maxValueChars;
  }

  /** Everything else is about this row, until the next one is read. */
  read(raw: RawRecord): this {
    this.#raw = raw;
    this.#faults = null;
    // A copy of one object: all records of a file have the same hidden class.
    const values: Record<string, unknown> = { ...this.#blank };
    for (const slot of this.#slots) {
      const value = this.#value(slot);
      if (value !== null) values[slot.name] = value;
    }
    this.#values = values as Values<Each>;
    return this;
  }

  /** Null where a value is empty or wrong. */
  get values(): Values<Each> {
    return this.#values;
  }

  untrimmed(name: keyof Each): string {
    return this.#raw.fields[this.#slot(name).index] ?? '';
  }

  fail(name: keyof Each, value: string, fault: ValueFault): void {
    this.#fail(this.#slot(name), value, fault);
  }

  /** The valid record, completed by `more`, or the faults of the row. */
  checked<More extends object>(more: More): CheckedRow<RecordOf<Each> & More> {
    if (this.#faults !== null) return this.rejected();
    // Without faults every required value is there.
    const record = Object.assign(this.#values, more) as unknown as RecordOf<Each> & More;
    return { record, partnerCallId: this.#partnerCallId, faults: NO_FAULTS };
  }

  rejected(): CheckedRow<never> {
    const order = (fault: RowFault): number => this.#columns.get(fault.column ?? '') ?? -1;
    const faults = this.#faults?.sort((one, other) => order(one) - order(other)) ?? NO_FAULTS;
    return { record: null, partnerCallId: this.#partnerCallId, faults };
  }

  get #partnerCallId(): string | null {
    return this.#values['partnerCallId'] as string | null;
  }

  #value(slot: FieldSlot): unknown {
    const { isRequired, parse, fallback } = slot;
    const text = this.#text(slot);
    if (text === null) {
      if (isRequired && !this.#isTooLong(slot, '') && this.#fieldText(slot) === '') {
        this.#fail(slot, '', { fault: 'REQUIRED', message: `${slot.column} is empty. Fill it in.` });
      }
      return fallback === null ? null : this.#text(fallback);
    }
    // A fallback that is too long is a fault even when it is not used.
    if (fallback !== null) this.#text(fallback);
    const value = parse(text, this.#rules);
    if (typeof value !== 'object' || value === null) return value;
    for (const fault of Array.isArray(value) ? value : [value]) this.#fail(slot, text, fault as ValueFault);
    return null;
  }

  /** The value. Null when it is empty, and when it is too long, which is a fault. */
  #text(slot: Slot): string | null {
    const value = this.#fieldText(slot);
    // Of a value that was cut, only the white space before the text may have been kept.
    if (value === '' && this.#raw.cut === null) return null;
    if (!this.#isTooLong(slot, value)) return value === '' ? null : value;
    const limit = slot.maxBytes === null ? `${this.#maxChars} characters` : `${slot.maxBytes} bytes of UTF-8`;
    this.#fail(slot, value, { fault: 'TOO_LONG', message: `${slot.column} is over ${limit}. Shorten it.` });
    return null;
  }

  #fieldText({ index, isTrimmed }: Slot): string {
    const value = this.#raw.fields[index] ?? '';
    return isTrimmed ? value.trim() : value;
  }

  #isTooLong({ index, maxBytes }: Slot, value: string): boolean {
    if (this.#raw.cut !== null && this.#raw.cut.includes(index)) return true;
    if (maxBytes !== null) return value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes;
    if (value.length <= this.#maxChars) return false;
    return value.length > this.#maxChars * 2 || Array.from(value).length > this.#maxChars;
  }

  #fail({ column, maxBytes, isTrimmed }: Slot, value: string, { fault, message }: ValueFault): void {
    // A transcript may contain line ends and the like, which are not its fault.
    const invisible = maxBytes === null ? invisibleIn(value) : '';
    const padding = isTrimmed || value === value.trim() ? '' : ' Remove the white space around it.';
    (this.#faults ??= []).push(rowFault(this.#raw.row, column, value, fault, message + padding + invisible));
  }

  #slot(name: keyof Each): FieldSlot {
    return this.#slots.find((slot) => slot.name === name)!;
  }
}
