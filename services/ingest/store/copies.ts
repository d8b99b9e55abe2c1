import type { EntryRecord } from '../archive/index.ts';
import type { AudioRecord } from '../rows/audio-record.ts';
import type { CallRecord } from '../rows/call-record.ts';
import type { TranscriptRecord } from '../rows/transcript-record.ts';

/** A row on its way to becoming a call. */
export interface Arrival {
  readonly firmUuid: string;
  readonly batchUuid: string;
  readonly campaignUuid: string | null;
  readonly uuid: string;
  /** Its place among the good rows of the file, from 0. */
  readonly place: number;
}

/** How records are written into one table. */
export interface Copy<Record extends CallRecord> {
  /** The table with its columns, as COPY names them. */
  readonly into: string;
  /** One line in COPY's text format. */
  line(arrival: Arrival, record: Record): string;
}

/** Calls of a batch of transcripts. */
export const transcriptCopies: readonly Copy<TranscriptRecord>[] = [
  {
    into: `call (firm_uuid, batch_uuid, campaign_uuid, source, uuid, partner_call_id, client_phone_number, operator_name,
      operator_id, operator_group_name, direction, segment_type, start_time, duration, disconnect_reason, tagged_text)`,
    line: ({ firmUuid, batchUuid, campaignUuid, uuid }, record) =>
      `${firmUuid}\t${batchUuid}\t${campaignUuid ?? '\\N'}\ttranscription\t${uuid}\t` +
      `${field(record.partnerCallId)}\t${field(record.clientPhoneNumber)}\t${field(record.operatorName)}\t` +
      `${field(record.operatorId)}\t${field(record.operatorGroupName)}\t${field(record.direction)}\t` +
      `${field(record.segmentType)}\t${record.startTime}\t${record.duration}\t${field(record.disconnectReason)}\t` +
      `${field(record.anonymizedText)}\n`,
  },
];

/**
 * Calls of a batch that have the same turn. Few, because hearing ten recordings takes a minute, and a call that comes
 * by itself waits behind those alone that have the first turn.
 */
const CALLS_OF_A_TURN = 10;

/** Calls of a batch of recordings. */
export const recordingCopies: readonly Copy<AudioRecord<EntryRecord>>[] = [
  {
    into: `call (firm_uuid, batch_uuid, campaign_uuid, source, uuid, partner_call_id, client_phone_number, operator_name,
      operator_group_name, direction, segment_type, start_time, disconnect_reason)`,
    line: ({ firmUuid, batchUuid, campaignUuid, uuid }, record) =>
      `${firmUuid}\t${batchUuid}\t${campaignUuid ?? '\\N'}\taudio\t${uuid}\t` +
      `${field(record.partnerCallId)}\t${field(record.clientPhoneNumber)}\t${field(record.operatorName)}\t` +
      `${field(record.operatorGroupName)}\t${field(record.direction)}\t${field(record.segmentType)}\t` +
      `${record.startTime}\t${field(record.disconnectReason)}\n`,
  },
  {
    into: 'recording (firm_uuid, call_uuid, file_name, left_role, right_role, turn, entry)',
    line: ({ firmUuid, uuid, place }, { audioFileName, left, right, file }) =>
      `${firmUuid}\t${uuid}\t${field(audioFileName)}\t${left}\t${right}\t${1 + Math.floor(place / CALLS_OF_A_TURN)}\t` +
      `${field(JSON.stringify(file))}\n`,
  },
];

const needsEscape = /[\\\t\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A value in COPY's text format (PostgreSQL documentation, "COPY", "Text Format"). */
function field(value: string | null): string {
  if (value === null) return '\\N';
  return needsEscape.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => escapes[character]!) : value;
}
