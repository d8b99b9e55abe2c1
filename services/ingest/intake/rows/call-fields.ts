import type { Role } from '@call-analysis/events';
import { TAGS, type TranscriptFault, transcriptFaults } from '../../calls/transcript-format.ts';
import type { Column } from '../csv/header.ts';
import { type Direction, parseChannel, parseDirection, parseDuration, parsePhone } from './field-rules.ts';
import { excerpt, type ValueFault, visible } from './row-fault.ts';
import { parseStartTime, parseTranscriptionStartTime } from './start-time.ts';

/** Further facts that values are checked against. */
export interface FieldRules {
  readonly segmentType: (text: string) => string | ValueFault;
}

/** A field of a call: where its text comes from, and what the text must be. */
export interface Field<Value = unknown, IsRequired extends boolean = boolean> {
  readonly column: string;
  /** The column that is read when the first one is empty. */
  readonly fallback: string | null;
  /** The column must be in the file, and the value must not be empty. An optional value that is empty is null. */
  readonly isRequired: IsRequired;
  /** A transcript, limited in bytes of UTF-8. Other values are limited in characters. */
  readonly isTranscript: boolean;
  /** Trimmed even in the metadata of a single upload, which has all other values taken as they are. */
  readonly isName: boolean;
  /** Turns the text, which is not empty, into the value, or returns its faults. */
  readonly parse: (text: string, rules: FieldRules) => Value | ValueFault | readonly ValueFault[];
}

type Parse<Value> = Field<Value>['parse'];

function required<Value>(column: string, parse: Parse<Value>): Field<Value, true> {
  return { column, fallback: null, isRequired: true, isTranscript: false, isName: false, parse };
}

function optional<Value>(column: string, parse: Parse<Value>, fallback: string | null = null): Field<Value, false> {
  return { column, fallback, isRequired: false, isTranscript: false, isName: false, parse };
}

function name<IsRequired extends boolean>(field: Field<string, IsRequired>): Field<string, IsRequired> {
  return { ...field, isName: true };
}

const anyText = (text: string): string => text;

const clientPhoneNumber = required<string>('client_phone_number', parsePhone);
const operatorName = name(required('operator_name', anyText));
const segmentType = required<string>('segment_type', (text, rules) => rules.segmentType(text));
const partnerCallId = optional('partner_call_id', anyText);
const direction = optional<Direction>('direction', parseDirection);
const disconnectReason = optional('disconnect_reason', anyText);

/** A row of a CSV of transcripts, in the order of docs/api.md, "Presigned uploads". */
export const transcriptFields = {
  clientPhoneNumber,
  operatorName,
  /** Whole seconds. */
  duration: required<number>('duration', parseDuration),
  /** As it came, trimmed. `parseTranscript` accepts it. */
  anonymizedText: {
    ...required<string>('anonymized_text', (text) => {
      const faults = checkTranscript(text);
      return faults.length === 0 ? text : faults;
    }),
    isTranscript: true,
  },
  /** Unix milliseconds. */
  startedMs: required<number>('start_time', parseTranscriptionStartTime),
  segmentType,
  partnerCallId,
  operatorId: optional('operator_id', anyText),
  direction,
  operatorGroupName: name(optional('operator_group_name', anyText, 'group_name')),
  disconnectReason,
};

/**
 * A row of a CSV of recordings, and the metadata of a single upload, in the order of docs/api.md, "Single upload" and
 * "Presigned uploads".
 */
export const audioFields = {
  audioFileName: name(required('audio_file_name', anyText)),
  clientPhoneNumber,
  operatorName,
  /** Unix milliseconds. */
  startedMs: required<number>('start_time', parseStartTime),
  segmentType,
  /** Who speaks on the second channel. */
  right: required<Role>('right_channel', (text) => parseChannel('right_channel', text)),
  /** Who speaks on the first channel. Never the speaker of the second. */
  left: required<Role>('left_channel', (text) => parseChannel('left_channel', text)),
  partnerCallId,
  direction,
  operatorGroupName: name(optional('operator_group_name', anyText)),
  disconnectReason,
};

export type Fields = Readonly<Record<string, Field>>;

/** A row whose values are all valid. Optional values that were empty are null. */
export type RecordOf<Each extends Fields> = {
  readonly [Name in keyof Each]: Each[Name] extends Field<infer Value, true>
    ? Value
    : Each[Name] extends Field<infer Value>
      ? Value | null
      : never;
};

export type TranscriptRecord = RecordOf<typeof transcriptFields>;

/** `File` is what the file name was resolved to. */
export type AudioRecord<File> = RecordOf<typeof audioFields> & { readonly file: File };

/** The facts of every call before it is transcribed and analyzed. */
export type CallRecord = Pick<TranscriptRecord, keyof typeof transcriptFields & keyof typeof audioFields>;

/** The columns of these fields, as the CSV reader needs them. */
function columnsOf(fields: Fields): readonly Column[] {
  return Object.values(fields).flatMap(({ column, fallback, isRequired, isTranscript }) => [
    { name: column, required: isRequired, long: isTranscript },
    ...(fallback === null ? [] : [{ name: fallback, required: false }]),
  ]);
}

export const transcriptColumns = columnsOf(transcriptFields);
export const audioColumns = columnsOf(audioFields);

/** What an uploader is told of the faults of a transcript, in their order. */
export function checkTranscript(text: string): readonly ValueFault[] {
  return transcriptFaults(text).map((fault) =>
    fault.is === 'untagged' ? untagged(text, fault.at) : emptyUtterance(fault),
  );
}

/** Characters in which a message looks for something that may have been meant as a tag. */
const SEARCHED_CHARS = 10_000;
const RESEMBLES_TAG = /(?:[<＜‹[{(]|&lt;)[^<>]{1,40}?(?:[>＞›\]})]|&gt;)/;

function untagged(text: string, firstTag: number | null): ValueFault {
  const before = text.slice(0, Math.min(firstTag ?? SEARCHED_CHARS, SEARCHED_CHARS)).trim();
  const problem =
    firstTag === null
      ? 'anonymized_text has no role tag.'
      : `anonymized_text has text before its first role tag (at character ${firstTag + 1}): "${visible(excerpt(before, 40))}".`;
  const resembling = RESEMBLES_TAG.exec(before);
  const hint = resembling === null ? '' : ` "${visible(excerpt(resembling[0], 50))}" is not a role tag.`;
  const names = TAGS.map(({ name }) => `<${name}>`).join(', ');
  return {
    fault: 'MISSING_ROLE_TAG',
    message:
      `${problem}${hint} Begin every utterance with one of ${names}, ` +
      'in any case, with nothing else in the brackets.',
  };
}

function emptyUtterance({ tag, at, number }: Extract<TranscriptFault, { is: 'empty' }>): ValueFault {
  return {
    fault: 'EMPTY_UTTERANCE',
    message:
      `Utterance ${number} of anonymized_text, after <${tag}> at character ${at + 1}, is empty. ` +
      'Add its text or remove the tag.',
  };
}
