import { Fault, type FieldFault } from '@call-analysis/fault';
import { type AudioRecord, audioFields, type Field } from './call-fields.ts';
import { type CallRules, checkAudioRow } from './check-row.ts';
import { excerpt, visible } from './row-fault.ts';

/** The name of the recording in the metadata, trimmed and as it came. */
export interface NamedFile {
  readonly name: string;
  readonly untrimmed: string;
}

interface Metadata {
  readonly record: AudioRecord<NamedFile>;
  /** The names of unknown fields, each once. */
  readonly ignoredFields: readonly string[];
}

const PHONE = 'client_phone_number';
const IGNORED_NAME_CHARS = 255;
/** Unknown fields that a message lists. All are in the details. */
const SHOWN_IGNORED = 20;
const allFields: readonly Field[] = Object.values(audioFields);
const names = allFields.map(({ column }) => column);
const columns = new Map(names.map((name, index) => [name, index]));

/**
 * Reads the metadata of a single upload: a JSON object of strings, checked like a row of a CSV of recordings, except
 * that only names are trimmed. A null counts as absent, and an empty optional field is a fault (docs/api.md, "Single
 * upload"). Fault INVALID_PHONE_NUMBER when a phone number was sent and is invalid, else VALIDATION_ERROR.
 * `details.fields` has all faults in both cases.
 */
export function readMetadata(text: string, rules: CallRules): Metadata {
  const sent = objectOf(text);
  const malformed = new Map<string, FieldFault>();
  const fields = allFields.map((field) => {
    const name = field.column;
    const value = Object.hasOwn(sent, name) ? sent[name] : null;
    if (value === null) {
      if (field.isRequired)
        malformed.set(name, { field: name, code: 'REQUIRED', message: `${name} is missing. Add it.` });
      return '';
    }
    const fault = notText(name, value) ?? emptyText(field, String(value));
    if (fault !== null) malformed.set(name, fault);
    return fault === null ? String(value) : '';
  });
  const check = checkAudioRow({ columns }, rules, (name, untrimmed): NamedFile => ({ name, untrimmed }), 'names');
  const { record, faults } = check({ row: 1, fields, cut: null });
  // A malformed value was left empty. Only that it is malformed is reported.
  const found = new Map(faults.map(({ column, code, message }) => [column, { field: column ?? '', code, message }]));
  const all = names.flatMap((name) => malformed.get(name) ?? found.get(name) ?? []);
  const unknown = Object.keys(sent).filter((name) => !columns.has(name));
  const ignoredFields = unknown.map((name) => excerpt(name, IGNORED_NAME_CHARS));
  if (record === null || all.length > 0) {
    const hasPhone = (sent[PHONE] ?? null) !== null;
    const code = hasPhone && all.some(({ field }) => field === PHONE) ? 'INVALID_PHONE_NUMBER' : 'VALIDATION_ERROR';
    throw refusal(code, all, ignoredFields);
  }
  return { record, ignoredFields };
}

function objectOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notAnObject('metadata is not JSON. Send an object like {"audio_file_name": "call.wav", …}.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw notAnObject('metadata is JSON, but not an object. Put the fields of the call in one object in braces.');
}

function notAnObject(message: string): Fault {
  return refusal('VALIDATION_ERROR', [{ field: 'metadata', code: 'INVALID_JSON', message }]);
}

/** The fault of a value that is not a string that can be stored, or null. */
function notText(field: string, value: unknown): FieldFault | null {
  if (typeof value !== 'string') {
    const message =
      field === 'start_time' && typeof value === 'number'
        ? 'start_time must be a string like "2026-01-31T09:30:00". Unix seconds are accepted only in CSVs of transcripts.'
        : `${field} must be a string. Write it in double quotes.`;
    return { field, code: 'NOT_A_STRING', message };
  }
  if (value.includes('\0') || !value.isWellFormed()) {
    const message = `${field} contains a NUL or half of a surrogate pair, which cannot be stored. Remove it.`;
    return { field, code: 'INVALID_CHARACTER', message };
  }
  return null;
}

/**
 * The fault of an optional field that was sent without a value, or null. It is not taken as absent: an empty
 * partner_call_id, for example, would silently cost the upload its protection against repeats.
 */
function emptyText({ column, isRequired, isName }: Field, value: string): FieldFault | null {
  if (isRequired || (isName ? value.trim() : value) !== '') return null;
  return { field: column, code: 'REQUIRED', message: `${column} is empty. Give it a value or leave it out.` };
}

/** The message names unknown fields too: a missing field may have been sent under another name. */
function refusal(
  code: 'VALIDATION_ERROR' | 'INVALID_PHONE_NUMBER',
  fields: readonly FieldFault[],
  ignoredFields: readonly string[] = [],
): Fault {
  const messages = fields.map(({ message }) => message);
  if (ignoredFields.length === 0) return new Fault('invalid', code, messages.join(' '), { details: { fields } });
  const shown = ignoredFields.slice(0, SHOWN_IGNORED).map(visible).join(', ');
  const more = ignoredFields.length > SHOWN_IGNORED ? ` and ${ignoredFields.length - SHOWN_IGNORED} more` : '';
  const message = [...messages, `Unknown fields, ignored: ${shown}${more}.`].join(' ');
  return new Fault('invalid', code, message, { details: { fields, ignored_fields: ignoredFields } });
}
