import type { Direction } from './call-values.ts';
import type { RowFault } from './row-fault.ts';

/** What is known of a call before anybody reads or hears it, found good. What was left empty is null. */
export interface CallRecord {
  readonly partnerCallId: string | null;
  readonly clientPhoneNumber: string;
  readonly operatorName: string;
  readonly operatorGroupName: string | null;
  readonly direction: Direction | null;
  readonly segmentType: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly disconnectReason: string | null;
}

export interface CallRules {
  /** The firm's own. */
  readonly segmentTypes: ReadonlySet<string>;
  /** The longest of all values but transcripts, in code points. */
  readonly maxValueChars: number;
}

export interface CheckedRow<Record extends CallRecord> {
  /** Null when the row is at fault. */
  readonly record: Record | null;
  /** The row's partner_call_id, whatever else is wrong with the row; null when there is none that could be stored. */
  readonly partnerCallId: string | null;
  /** All that is wrong with the row, in the order of its columns. */
  readonly faults: readonly RowFault[];
}
