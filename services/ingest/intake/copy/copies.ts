import type { EntryRecord } from '@call-analysis/zip';
import type { AudioRecord } from '../rows/audio-record.ts';
import type { CallRecord } from '../rows/call-record.ts';
import type { TranscriptRecord } from '../rows/transcript-record.ts';
import type { BinaryRows } from './binary-rows.ts';

/** A row on its way to becoming a call. */
export interface Arrival {
  readonly firmUuid: Uint8Array;
  readonly batchUuid: Uint8Array;
  readonly campaignUuid: Uint8Array | null;
  readonly uuid: Uint8Array;
  /** Its place among the good rows of the file, from 0. */
  readonly place: number;
}

/** How records are written into one table. */
export interface Copy<Record extends CallRecord> {
  /** The table with its columns, as COPY names them. */
  readonly into: string;
  /** Writes one row with a field for each of them. */
  write(row: BinaryRows, arrival: Arrival, record: Record): void;
}

/** What every call begins with. */
const BEGINNING =
  'firm_uuid, batch_uuid, campaign_uuid, source, uuid, partner_call_id, client_phone_number, operator_name';

function writeBeginning(row: BinaryRows, arrival: Arrival, source: string, record: CallRecord): void {
  row.uuid(arrival.firmUuid);
  row.uuid(arrival.batchUuid);
  row.uuid(arrival.campaignUuid);
  row.text(source);
  row.uuid(arrival.uuid);
  row.text(record.partnerCallId);
  row.text(record.clientPhoneNumber);
  row.text(record.operatorName);
}

/** Calls of a batch of transcripts. */
export const transcriptCopies: readonly Copy<TranscriptRecord>[] = [
  {
    into: `call (${BEGINNING}, operator_id, operator_group_name, direction, segment_type, start_time, duration,
      disconnect_reason, tagged_text)`,
    write(row, arrival, record) {
      row.fields(16);
      writeBeginning(row, arrival, 'transcription', record);
      row.text(record.operatorId);
      row.text(record.operatorGroupName);
      row.text(record.direction);
      row.text(record.segmentType);
      row.instant(record.startedMs);
      row.double(record.duration);
      row.text(record.disconnectReason);
      row.text(record.anonymizedText);
    },
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
    into: `call (${BEGINNING}, operator_group_name, direction, segment_type, start_time, disconnect_reason)`,
    write(row, arrival, record) {
      row.fields(13);
      writeBeginning(row, arrival, 'audio', record);
      row.text(record.operatorGroupName);
      row.text(record.direction);
      row.text(record.segmentType);
      row.instant(record.startedMs);
      row.text(record.disconnectReason);
    },
  },
  {
    into: 'recording (firm_uuid, call_uuid, file_name, left_role, right_role, turn, entry)',
    write(row, { firmUuid, uuid, place }, { audioFileName, left, right, file }) {
      row.fields(7);
      row.uuid(firmUuid);
      row.uuid(uuid);
      row.text(audioFileName);
      row.text(left);
      row.text(right);
      row.int(1 + Math.floor(place / CALLS_OF_A_TURN));
      row.json(file);
    },
  },
];
