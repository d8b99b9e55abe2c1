/** Codes of a row at fault (api.md, section 5). */
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

/** What is wrong with a value, and in `message` what to do next. */
export interface ValueFault {
  readonly fault: RowFaultCode;
  readonly message: string;
}

/** One entry of `details.faults`. Row and column are null for what no row or no column holds. */
export interface RowFault {
  readonly row: number | null;
  readonly column: string | null;
  /** At most 200 code points of what stood there. */
  readonly value: string;
  readonly code: RowFaultCode;
  readonly message: string;
}

const SHOWN_CODE_POINTS = 200;

/** A row's fault as the answer shows it. The value is a copy of its own, small even when it was cut from megabytes. */
export function rowFault(row: number, column: string, value: string, code: RowFaultCode, message: string): RowFault {
  return { row, column, value: excerpt(value, SHOWN_CODE_POINTS), code, message };
}

/** The first code points of a text, in memory of their own rather than as a view of the text. */
export function excerpt(text: string, codePoints: number): string {
  const start = text.slice(0, codePoints * 2);
  const short = start.length <= codePoints ? start : Array.from(start).slice(0, codePoints).join('');
  return Buffer.from(short).toString();
}

const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/** A text as it can be read: characters that nobody sees by their numbers, like U+200B. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    return `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

/** What to add to a message about a value in which there is more than the eye sees. */
export function unseenIn(value: string): string {
  const start = excerpt(value, SHOWN_CODE_POINTS);
  const shown = visible(start);
  return shown === start ? '' : ` There are characters in it that nobody sees: "${shown}".`;
}
