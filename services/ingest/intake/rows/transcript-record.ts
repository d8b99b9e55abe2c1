import type { Column, Header, RawRecord } from '../csv/reader.ts';
import type { CallRecord, CallRules, CheckedRow } from './call-record.ts';
import { parseDirection, parseDuration, segmentTypeRule } from './call-values.ts';
import { parsePhone } from './phone.ts';
import { RowValues } from './row-values.ts';
import { parseTranscriptionStartTime } from './start-time.ts';
import { checkTranscript } from './transcript-format.ts';

/** One row of an uploaded CSV of transcripts, read and found good. */
export interface TranscriptRecord extends CallRecord {
  readonly operatorId: string | null;
  /** Whole seconds. */
  readonly duration: number;
  /** As it came, trimmed; `parseTranscript` takes it apart without fault. */
  readonly anonymizedText: string;
}

/** The columns of a CSV of transcripts (external-interface.md, "Transcription record"). */
export const transcriptColumns: readonly Column[] = [
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

export interface TranscriptRules extends CallRules {
  /** The longest `anonymized_text`, in bytes of UTF-8. */
  readonly maxTextBytes: number;
}

/** A check for the rows of one file. */
export function checkTranscriptRow(
  { columns }: Pick<Header, 'columns'>,
  { segmentTypes, maxTextBytes, maxValueChars }: TranscriptRules,
): (raw: RawRecord) => CheckedRow<TranscriptRecord> {
  const values = new RowValues(columns, maxValueChars);
  const at = {
    clientPhoneNumber: values.place('client_phone_number'),
    operatorName: values.place('operator_name'),
    duration: values.place('duration'),
    anonymizedText: values.place('anonymized_text', maxTextBytes),
    startTime: values.place('start_time'),
    segmentType: values.place('segment_type'),
    partnerCallId: values.place('partner_call_id'),
    operatorId: values.place('operator_id'),
    direction: values.place('direction'),
    groupName: values.place('group_name'),
    operatorGroupName: values.place('operator_group_name'),
    disconnectReason: values.place('disconnect_reason'),
  };
  const parseSegmentType = segmentTypeRule(segmentTypes);

  return (raw) => {
    values.begin(raw);
    const phone = values.required(at.clientPhoneNumber);
    const clientPhoneNumber = values.judged(at.clientPhoneNumber, phone, phone === null ? null : parsePhone(phone));
    const operatorName = values.required(at.operatorName);
    const seconds = values.required(at.duration);
    const duration = values.judged(at.duration, seconds, seconds === null ? null : parseDuration(seconds));
    const anonymizedText = values.required(at.anonymizedText);
    if (anonymizedText !== null) {
      const fault = checkTranscript(anonymizedText);
      if (fault !== null) values.fail(at.anonymizedText, anonymizedText, fault);
    }
    const started = values.required(at.startTime);
    const instant = started === null ? null : parseTranscriptionStartTime(started);
    const startedMs = values.judged(at.startTime, started, instant);
    const segment = values.required(at.segmentType);
    const segmentType = values.judged(at.segmentType, segment, segment === null ? null : parseSegmentType(segment));
    const partnerCallId = values.optional(at.partnerCallId);
    const operatorId = values.optional(at.operatorId);
    const way = values.optional(at.direction);
    const direction = values.judged(at.direction, way, way === null ? null : parseDirection(way));
    const operatorGroupName = values.optional(at.operatorGroupName);
    const groupName = values.optional(at.groupName);
    const disconnectReason = values.optional(at.disconnectReason);
    if (
      !values.isGood ||
      clientPhoneNumber === null ||
      operatorName === null ||
      duration === null ||
      anonymizedText === null ||
      startedMs === null ||
      segmentType === null
    ) {
      return { record: null, partnerCallId, faults: values.faults };
    }
    const record: TranscriptRecord = {
      partnerCallId,
      clientPhoneNumber,
      operatorName,
      operatorId,
      operatorGroupName: operatorGroupName ?? groupName,
      direction,
      segmentType,
      startedMs,
      duration,
      disconnectReason,
      anonymizedText,
    };
    return { record, partnerCallId, faults: values.faults };
  };
}
