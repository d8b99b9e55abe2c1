/** Codes for the faults of a row (docs/api.md, "Presigned uploads"). */
export type RowFaultCode =
  | 'REQUIRED'
  | 'INVALID_PHONE_NUMBER'
  | 'INVALID_DATETIME'
  | 'UNKNOWN_SEGMENT_TYPE'
  | 'INVALID_CHANNEL'
  | 'SAME_CHANNEL'
  | 'INVALID_DIRECTION'
  | 'INVALID_DURATION'
  | 'INVALID_FILE_FORMAT'
  | 'FILE_NOT_IN_ARCHIVE'
  | 'FILE_NOT_IN_CSV'
  | 'FILE_LISTED_TWICE'
  | 'MISSING_ROLE_TAG'
  | 'EMPTY_UTTERANCE'
  | 'TOO_LONG'
  | 'DUPLICATE_ROW';

/** A fault of a value. The message says what to do next. */
export interface ValueFault {
  readonly fault: RowFaultCode;
  readonly message: string;
}

/** One entry of `details.faults`. `row` and `column` are null when the fault belongs to none. */
export interface RowFault {
  readonly row: number | null;
  readonly column: string | null;
  /** The first 200 code points of the value. */
  readonly value: string;
  readonly code: RowFaultCode;
  readonly message: string;
}

const SHOWN_CODE_POINTS = 200;

/** The fault as the answer shows it. */
export function rowFault(row: number, column: string, value: string, code: RowFaultCode, message: string): RowFault {
  return { row, column, value: excerpt(value, SHOWN_CODE_POINTS), code, message };
}

/** The first code points of a text, as a copy rather than a slice that keeps all of the text in memory. */
export function excerpt(text: string, codePoints: number): string {
  const start = text.slice(0, codePoints * 2);
  const short = start.length <= codePoints ? start : Array.from(start).slice(0, codePoints).join('');
  return Buffer.from(short).toString();
}

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/** Replaces invisible characters by their numbers, like [U+200B]. */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, (character) => {
    return `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

/** The addition to a message about a value that contains invisible characters. Empty when it has none. */
export function invisibleIn(value: string): string {
  // A file may have a fault in every row, and hardly any value has invisible characters.
  if (value.search(INVISIBLE) < 0) return '';
  const start = excerpt(value, SHOWN_CODE_POINTS);
  const shown = visible(start);
  return shown === start ? '' : ` It contains invisible characters: "${shown}".`;
}
