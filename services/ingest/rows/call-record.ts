import { parseDirection, parseDuration, segmentTypeRule, type Direction } from './call-values.ts';
import type { Column, Header, RawRecord } from '../csv/reader.ts';
import { parsePhone } from './phone.ts';
import { rowFault, type RowFault, type ValueFault } from './row-fault.ts';
import { isoOfMs, parseTranscriptionStartTime } from './start-time.ts';
import { checkTranscript } from './transcript-format.ts';

/** One row of an uploaded CSV of transcripts, read and found good. What the row left empty is null. */
export interface CallRecord {
  /** The row of the spreadsheet: the header is 1. */
  readonly row: number;
  readonly partnerCallId: string | null;
  readonly clientPhoneNumber: string;
  readonly operatorName: string;
  readonly operatorId: string | null;
  readonly operatorGroupName: string | null;
  readonly direction: Direction | null;
  readonly segmentType: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly startTime: string;
  /** Whole seconds. */
  readonly duration: number;
  readonly disconnectReason: string | null;
  /** As it came, trimmed; `parseTranscript` takes it apart without fault. */
  readonly anonymizedText: string;
}

/** The columns of a CSV of transcripts (external-interface.md, "Transcription record"). */
export const transcriptionColumns: readonly Column[] = [
  { name: 'client_phone_number', required: true },
  { name: 'operator_name', required: true },
  { name: 'duration', required: true },
  { name: 'anonymized_text', required: true, long: true },
  { name: 'start_time', required: true },
  { name: 'segment_type', required: true },
  { name: 'partner_call_id', required: false },
  { name: 'operator_id', required: false },
  { name: 'direction', required: false },
  { name: 'group_name', required: false },
  { name: 'operator_group_name', required: false },
  { name: 'disconnect_reason', required: false },
];

export interface RowRules {
  /** The firm's own. */
  readonly segmentTypes: ReadonlySet<string>;
  /** The longest `anonymized_text`, in bytes of UTF-8. */
  readonly maxTextBytes: number;
  /** The longest of all other values, in code points. */
  readonly maxValueChars: number;
}

export interface CheckedRow {
  /** Null when the row is at fault. */
  readonly record: CallRecord | null;
  /** The row's partner_call_id, whatever else is wrong with the row; null when there is none that could be stored. */
  readonly partnerCallId: string | null;
  /** All that is wrong with the row, in the order of its columns. */
  readonly faults: readonly RowFault[];
}

/** A known column and where it stands in the file; -1 where the file lacks it. */
interface Place {
  readonly name: string;
  readonly index: number;
}

const NO_FAULTS: readonly RowFault[] = [];

/**
 * A check for the rows of one file. Values are trimmed as `trim` does it: Unicode white space, line ends and byte order
 * marks. Control characters inside a value are let through.
 */
export function checkTranscriptionRow(
  { columns }: Pick<Header, 'columns'>,
  { segmentTypes, maxTextBytes, maxValueChars }: RowRules,
): (raw: RawRecord) => CheckedRow {
  const place = (name: string): Place => ({ name, index: columns.get(name) ?? -1 });
  const at = {
    clientPhoneNumber: place('client_phone_number'),
    operatorName: place('operator_name'),
    duration: place('duration'),
    anonymizedText: place('anonymized_text'),
    startTime: place('start_time'),
    segmentType: place('segment_type'),
    partnerCallId: place('partner_call_id'),
    operatorId: place('operator_id'),
    direction: place('direction'),
    groupName: place('group_name'),
    operatorGroupName: place('operator_group_name'),
    disconnectReason: place('disconnect_reason'),
  };
  const parseSegmentType = segmentTypeRule(segmentTypes);
  /** Of the row that is being checked; made when the first is found, for most rows have none. */
  let faults: RowFault[] | null = null;

  function fail(raw: RawRecord, { name }: Place, value: string, { fault, message }: ValueFault): void {
    (faults ??= []).push(rowFault(raw.row, name, value, fault, message));
  }

  function isTooLong(raw: RawRecord, { index }: Place, value: string): boolean {
    if (raw.cut !== null && raw.cut.includes(index)) return true;
    if (index === at.anonymizedText.index) {
      return value.length * 3 > maxTextBytes && Buffer.byteLength(value) > maxTextBytes;
    }
    if (value.length <= maxValueChars) return false;
    return value.length > maxValueChars * 2 || Array.from(value).length > maxValueChars;
  }

  /** Null when it is empty; or too long, which is a fault. */
  function optional(raw: RawRecord, column: Place): string | null {
    const value = trimmed(raw.fields[column.index]);
    // Of a value that was cut, only the blanks before it may have been kept.
    if (value === '' && raw.cut === null) return null;
    if (!isTooLong(raw, column, value)) return value === '' ? null : value;
    const limit = column === at.anonymizedText ? `${maxTextBytes} bytes of UTF-8` : `${maxValueChars} characters`;
    fail(raw, column, value, { fault: 'TOO_LONG', message: `${column.name} is over ${limit}. Shorten it.` });
    return null;
  }

  /** Null when it is empty or too long, which both are faults. */
  function required(raw: RawRecord, column: Place): string | null {
    const value = optional(raw, column);
    if (value === null && trimmed(raw.fields[column.index]) === '' && !isTooLong(raw, column, '')) {
      fail(raw, column, '', { fault: 'REQUIRED', message: `${column.name} is empty. Fill it in.` });
    }
    return value;
  }

  /** What a rule made of a text; null when the rule found a fault, or there is no text. */
  function judged<Value extends string | number>(
    raw: RawRecord,
    column: Place,
    text: string | null,
    result: Value | ValueFault | null,
  ): Value | null {
    if (text === null || result === null || typeof result !== 'object') return result as Value | null;
    fail(raw, column, text, result);
    return null;
  }

  function inOrderOfColumns(found: RowFault[]): RowFault[] {
    const order = (fault: RowFault): number => columns.get(fault.column ?? '') ?? -1;
    return found.sort((one, other) => order(one) - order(other));
  }

  return (raw) => {
    faults = null;
    const phone = required(raw, at.clientPhoneNumber);
    const clientPhoneNumber = judged(raw, at.clientPhoneNumber, phone, phone === null ? null : parsePhone(phone));
    const operatorName = required(raw, at.operatorName);
    const seconds = required(raw, at.duration);
    const duration = judged(raw, at.duration, seconds, seconds === null ? null : parseDuration(seconds));
    const anonymizedText = required(raw, at.anonymizedText);
    if (anonymizedText !== null) {
      const fault = checkTranscript(anonymizedText);
      if (fault !== null) fail(raw, at.anonymizedText, anonymizedText, fault);
    }
    const started = required(raw, at.startTime);
    const instant = started === null ? null : parseTranscriptionStartTime(started);
    const startedMs = judged(raw, at.startTime, started, instant);
    const segment = required(raw, at.segmentType);
    const segmentType = judged(raw, at.segmentType, segment, segment === null ? null : parseSegmentType(segment));
    const partnerCallId = optional(raw, at.partnerCallId);
    const operatorId = optional(raw, at.operatorId);
    const way = optional(raw, at.direction);
    const direction = judged(raw, at.direction, way, way === null ? null : parseDirection(way));
    const operatorGroupName = optional(raw, at.operatorGroupName);
    const groupName = optional(raw, at.groupName);
    const disconnectReason = optional(raw, at.disconnectReason);
    if (
      faults !== null ||
      clientPhoneNumber === null ||
      operatorName === null ||
      duration === null ||
      anonymizedText === null ||
      startedMs === null ||
      segmentType === null
    ) {
      return { record: null, partnerCallId, faults: inOrderOfColumns(faults ?? []) };
    }
    const record: CallRecord = {
      row: raw.row,
      partnerCallId,
      clientPhoneNumber,
      operatorName,
      operatorId,
      operatorGroupName: operatorGroupName ?? groupName,
      direction,
      segmentType,
      startTime: isoOfMs(startedMs),
      duration,
      disconnectReason,
      anonymizedText,
    };
    return { record, partnerCallId, faults: NO_FAULTS };
  };
}

function trimmed(value: string | undefined): string {
  if (value === undefined || value.length === 0) return '';
  const first = value.charCodeAt(0);
  const last = value.charCodeAt(value.length - 1);
  // Printable ASCII at both ends needs no trimming, and that is most values.
  return first > 32 && first < 127 && last > 32 && last < 127 ? value : value.trim();
}
