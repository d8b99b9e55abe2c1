import type { Header, RawRecord } from '../csv/reader.ts';
import { rowFault, type RowFault, unseenIn, type ValueFault } from './row-fault.ts';

/** A known column and where it stands in the file; -1 where the file lacks it. */
export interface Place {
  readonly name: string;
  readonly index: number;
  /** The longest value in bytes of UTF-8; null where code points are limited instead. */
  readonly maxBytes: number | null;
}

const NO_FAULTS: readonly RowFault[] = [];
const NO_ROW: RawRecord = { row: 0, fields: [], cut: null };

/**
 * The values of one row after another, and what is wrong with them. Values are trimmed as `trim` does it: Unicode white
 * space, line ends and byte order marks. Control characters inside a value are let through.
 */
export class RowValues {
  readonly #columns: Header['columns'];
  readonly #maxChars: number;
  #raw = NO_ROW;
  /** Of the row at hand; made when the first is found, for most rows have none. */
  #faults: RowFault[] | null = null;

  constructor(columns: Header['columns'], maxChars: number) {
    this.#columns = columns;
    this.#maxChars = maxChars;
  }

  place(name: string, maxBytes: number | null = null): Place {
    return { name, index: this.#columns.get(name) ?? -1, maxBytes };
  }

  /** Everything else is about this row, until the next one begins. */
  begin(raw: RawRecord): void {
    this.#raw = raw;
    this.#faults = null;
  }

  /** Null when it is empty; or too long, which is a fault. */
  optional(place: Place): string | null {
    const value = trimmed(this.#raw.fields[place.index]);
    // Of a value that was cut, only the blanks before it may have been kept.
    if (value === '' && this.#raw.cut === null) return null;
    if (!this.#isTooLong(place, value)) return value === '' ? null : value;
    const limit = place.maxBytes === null ? `${this.#maxChars} characters` : `${place.maxBytes} bytes of UTF-8`;
    this.fail(place, value, { fault: 'TOO_LONG', message: `${place.name} is over ${limit}. Shorten it.` });
    return null;
  }

  /** Null when it is empty or too long, which both are faults. */
  required(place: Place): string | null {
    const value = this.optional(place);
    if (value === null && trimmed(this.#raw.fields[place.index]) === '' && !this.#isTooLong(place, '')) {
      this.fail(place, '', { fault: 'REQUIRED', message: `${place.name} is empty. Fill it in.` });
    }
    return value;
  }

  /** As it came, blanks at its ends included. */
  untrimmed(place: Place): string {
    return this.#raw.fields[place.index] ?? '';
  }

  /** What a rule made of a text; null when the rule found a fault, or there is no text. */
  judged<Value extends string | number>(
    place: Place,
    text: string | null,
    result: Value | ValueFault | null,
  ): Value | null {
    if (text === null || result === null || typeof result !== 'object') return result as Value | null;
    this.fail(place, text, result);
    return null;
  }

  fail({ name, maxBytes }: Place, value: string, { fault, message }: ValueFault): void {
    // A long text may have line ends and the like, which are not what is wrong with it.
    const unseen = maxBytes === null ? unseenIn(value) : '';
    (this.#faults ??= []).push(rowFault(this.#raw.row, name, value, fault, message + unseen));
  }

  get isGood(): boolean {
    return this.#faults === null;
  }

  /** In the order of the columns. */
  get faults(): readonly RowFault[] {
    if (this.#faults === null) return NO_FAULTS;
    const order = (fault: RowFault): number => this.#columns.get(fault.column ?? '') ?? -1;
    return this.#faults.sort((one, other) => order(one) - order(other));
  }

  #isTooLong({ index, maxBytes }: Place, value: string): boolean {
    if (this.#raw.cut !== null && this.#raw.cut.includes(index)) return true;
    if (maxBytes !== null) return value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes;
    if (value.length <= this.#maxChars) return false;
    return value.length > this.#maxChars * 2 || Array.from(value).length > this.#maxChars;
  }
}

function trimmed(value: string | undefined): string {
  if (value === undefined || value.length === 0) return '';
  const first = value.charCodeAt(0);
  const last = value.charCodeAt(value.length - 1);
  // Printable ASCII at both ends needs no trimming, and that is most values.
  return first > 32 && first < 127 && last > 32 && last < 127 ? value : value.trim();
}
