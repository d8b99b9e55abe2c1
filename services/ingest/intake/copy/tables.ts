import type { ValueCipher } from '@call-analysis/postgres';
import type { EntryRecord } from '@call-analysis/zip';
import type { AudioRecord, CallRecord, TranscriptRecord } from '../rows/call-fields.ts';
import type { BinaryRows } from './binary-rows.ts';

/** The ids of a new call. */
export interface NewCall {
  readonly firmUuid: Uint8Array;
  readonly batchUuid: Uint8Array;
  readonly campaignUuid: Uint8Array | null;
  readonly uuid: Uint8Array;
  /** Its position among the valid rows of the file, from 0. */
  readonly position: number;
  readonly cipher: ValueCipher | null;
}

/** How records are written into one table. */
export interface CopyTable<Record extends CallRecord> {
  /** The table with its columns, as COPY names them. */
  readonly into: string;
  /** Writes one row with a field for each of these columns. */
  write(row: BinaryRows, call: NewCall, record: Record): void;
}

/** The columns that every call begins with. */
const CALL_COLUMNS =
  'firm_uuid, batch_uuid, campaign_uuid, source, uuid, partner_call_id, client_phone_number, operator_name';

function writeCallColumns(row: BinaryRows, call: NewCall, source: string, record: CallRecord): void {
  row.uuid(call.firmUuid);
  row.uuid(call.batchUuid);
  row.uuid(call.campaignUuid);
  row.text(source);
  row.uuid(call.uuid);
  row.text(record.partnerCallId);
  row.text(record.clientPhoneNumber);
  row.text(record.operatorName);
}

export const transcriptTables: readonly CopyTable<TranscriptRecord>[] = [
  {
    into: `call (${CALL_COLUMNS}, operator_id, operator_group_name, direction, segment_type, start_time, duration,
      disconnect_reason, tagged_text)`,
    write(row, call, record) {
      row.fields(16);
      writeCallColumns(row, call, 'transcription', record);
      row.text(record.operatorId);
      row.text(record.operatorGroupName);
      row.text(record.direction);
      row.text(record.segmentType);
      row.instant(record.startedMs);
      row.double(record.duration);
      row.text(record.disconnectReason);
      row.text(call.cipher === null ? record.anonymizedText : call.cipher.encryptText(record.anonymizedText));
    },
  },
];

/**
 * Calls of a batch of recordings that share a priority. Few, because transcribing ten recordings takes a minute, and a
 * single upload waits for the calls with the first priority.
 */
const CALLS_OF_A_PRIORITY = 10;

export const recordingTables: readonly CopyTable<AudioRecord<EntryRecord>>[] = [
  {
    into: `call (${CALL_COLUMNS}, operator_group_name, direction, segment_type, start_time, disconnect_reason)`,
    write(row, call, record) {
      row.fields(13);
      writeCallColumns(row, call, 'audio', record);
      row.text(record.operatorGroupName);
      row.text(record.direction);
      row.text(record.segmentType);
      row.instant(record.startedMs);
      row.text(record.disconnectReason);
    },
  },
  {
    into: 'recording (firm_uuid, call_uuid, file_name, left_role, right_role, turn, entry)',
    write(row, { firmUuid, uuid, position }, { audioFileName, left, right, file }) {
      row.fields(7);
      row.uuid(firmUuid);
      row.uuid(uuid);
      row.text(audioFileName);
      row.text(left);
      row.text(right);
      row.int(1 + Math.floor(position / CALLS_OF_A_PRIORITY));
      row.json(file);
    },
  },
];
