import type { Role } from '@call-analysis/events';
import type { Column, Header, RawRecord } from '../csv/reader.ts';
import type { CallRecord, CallRules, CheckedRow } from './call-record.ts';
import { parseDirection, segmentTypeRule } from './call-values.ts';
import { parseChannel, sameChannel } from './channel.ts';
import { parsePhone } from './phone.ts';
import type { ValueFault } from './row-fault.ts';
import { RowValues } from './row-values.ts';
import { parseStartTime } from './start-time.ts';

/** What a client says of a recording, read and found good. */
export interface AudioRecord<File> extends CallRecord {
  readonly audioFileName: string;
  /** What its name was found to stand for. */
  readonly file: File;
  /** Who speaks on the first channel and who on the second: always both sides. */
  readonly left: Role;
  readonly right: Role;
}

/** The columns of a CSV of recordings, and the fields of a single upload (external-interface.md, "Call metadata record"). */
export const audioColumns: readonly Column[] = [
  { name: 'audio_file_name', required: true },
  { name: 'client_phone_number', required: true },
  { name: 'operator_name', required: true },
  { name: 'start_time', required: true },
  { name: 'segment_type', required: true },
  { name: 'right_channel', required: true },
  { name: 'left_channel', required: true },
  { name: 'partner_call_id', required: false },
  { name: 'direction', required: false },
  { name: 'operator_group_name', required: false },
  { name: 'disconnect_reason', required: false },
];

/** What stands behind a file's name, given trimmed and as it came. Asked once for every row that has a name. */
export type FileRule<File> = (name: string, untrimmed: string) => File | ValueFault;

/** A check for the rows of one file, or for the metadata of one upload. */
export function checkAudioRow<File extends object>(
  { columns }: Pick<Header, 'columns'>,
  { segmentTypes, maxValueChars }: CallRules,
  findFile: FileRule<File>,
): (raw: RawRecord) => CheckedRow<AudioRecord<File>> {
  const values = new RowValues(columns, maxValueChars);
  const at = {
    audioFileName: values.place('audio_file_name'),
    clientPhoneNumber: values.place('client_phone_number'),
    operatorName: values.place('operator_name'),
    startTime: values.place('start_time'),
    segmentType: values.place('segment_type'),
    rightChannel: values.place('right_channel'),
    leftChannel: values.place('left_channel'),
    partnerCallId: values.place('partner_call_id'),
    direction: values.place('direction'),
    operatorGroupName: values.place('operator_group_name'),
    disconnectReason: values.place('disconnect_reason'),
  };
  const parseSegmentType = segmentTypeRule(segmentTypes);

  function file(name: string | null): File | null {
    if (name === null) return null;
    const found = findFile(name, values.untrimmed(at.audioFileName));
    if (!isFault(found)) return found;
    values.fail(at.audioFileName, name, found);
    return null;
  }

  function channel(place: typeof at.leftChannel): Role | null {
    const side = values.required(place);
    return values.judged(place, side, side === null ? null : parseChannel(place.name, side));
  }

  return (raw) => {
    values.begin(raw);
    const audioFileName = values.required(at.audioFileName);
    const found = file(audioFileName);
    const phone = values.required(at.clientPhoneNumber);
    const clientPhoneNumber = values.judged(at.clientPhoneNumber, phone, phone === null ? null : parsePhone(phone));
    const operatorName = values.required(at.operatorName);
    const started = values.required(at.startTime);
    const startedMs = values.judged(at.startTime, started, started === null ? null : parseStartTime(started));
    const segment = values.required(at.segmentType);
    const segmentType = values.judged(at.segmentType, segment, segment === null ? null : parseSegmentType(segment));
    const right = channel(at.rightChannel);
    const left = channel(at.leftChannel);
    if (left !== null && left === right) values.fail(at.leftChannel, left, sameChannel);
    const partnerCallId = values.optional(at.partnerCallId);
    const way = values.optional(at.direction);
    const direction = values.judged(at.direction, way, way === null ? null : parseDirection(way));
    const operatorGroupName = values.optional(at.operatorGroupName);
    const disconnectReason = values.optional(at.disconnectReason);
    if (
      !values.isGood ||
      audioFileName === null ||
      found === null ||
      clientPhoneNumber === null ||
      operatorName === null ||
      startedMs === null ||
      segmentType === null ||
      left === null ||
      right === null
    ) {
      return { record: null, partnerCallId, faults: values.faults };
    }
    const record: AudioRecord<File> = {
      audioFileName,
      file: found,
      left,
      right,
      partnerCallId,
      clientPhoneNumber,
      operatorName,
      operatorGroupName,
      direction,
      segmentType,
      startedMs,
      disconnectReason,
    };
    return { record, partnerCallId, faults: values.faults };
  };
}

function isFault(found: object): found is ValueFault {
  return 'fault' in found;
}
