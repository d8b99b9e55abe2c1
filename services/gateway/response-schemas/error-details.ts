import { z } from 'zod';

/** Of what is told about a call, in a form and in a row alike. */
const callCodes = [
  'INVALID_PHONE_NUMBER',
  'INVALID_DATETIME',
  'UNKNOWN_SEGMENT_TYPE',
  'INVALID_CHANNEL',
  'SAME_CHANNEL',
  'INVALID_DIRECTION',
] as const;

/** Codes of a field at fault: one of a JSON body, a query, a form or the metadata of a recording. */
const FieldCode = z.enum([
  'REQUIRED',
  'INVALID',
  'UNKNOWN_FIELD',
  'REPEATED',
  'TOO_LONG',
  'NOT_A_STRING',
  'INVALID_CHARACTER',
  'INVALID_JSON',
  ...callCodes,
  'ALREADY_USED',
  'UNKNOWN_QUESTION',
]);

/** Codes of a row at fault (api.md, section 5). */
const RowCode = z.enum([
  'REQUIRED',
  ...callCodes,
  'INVALID_DURATION',
  'INVALID_FILE_FORMAT',
  'FILE_NOT_IN_ARCHIVE',
  'FILE_NOT_IN_CSV',
  'FILE_LISTED_TWICE',
  'MISSING_ROLE_TAG',
  'EMPTY_UTTERANCE',
  'TOO_LONG',
  'DUPLICATE_ROW',
]);

/** `details` of VALIDATION_ERROR and INVALID_PHONE_NUMBER. */
export const FieldsAtFault = z
  .object({ fields: z.array(z.object({ field: z.string(), code: FieldCode, message: z.string() })) })
  .meta({ id: 'FieldsAtFault', description: 'Of VALIDATION_ERROR and INVALID_PHONE_NUMBER: every field at fault.' });

/** `details` of VALIDATION_FAILED. */
export const RowsAtFault = z
  .object({
    rows: z.int(),
    valid: z.int(),
    invalid: z.int(),
    faults: z
      .array(
        z.object({
          row: z.int().nullable().meta({ description: 'As a spreadsheet counts: the header is 1.' }),
          column: z.string().nullable(),
          value: z.string(),
          code: RowCode,
          message: z.string(),
        }),
      )
      .meta({ description: 'The first 100.' }),
    faults_truncated: z.boolean(),
    rejected_csv_url: z.string().nullable().meta({ description: 'The refused rows, to correct and send again.' }),
  })
  .meta({ id: 'RowsAtFault', description: 'Of VALIDATION_FAILED: what is wrong with which row.' });

/** Why a call failed, where its own work is at fault; a part that was away for long has a code like UNAVAILABLE. */
export const failureCodes = {
  extraction: [
    'ENTRY_CORRUPT',
    'ARCHIVE_MISSING',
    'INVALID_FILE_FORMAT',
    'AUDIO_UNREADABLE',
    'AUDIO_NOT_STEREO',
    'NOT_ANNOUNCED',
  ],
  transcription: [
    'RECORDING_MISSING',
    'AUDIO_UNREADABLE',
    'LANGUAGE_NOT_SUPPORTED',
    'ENGINE_UNAVAILABLE',
    'ENGINE_FAILED',
    'ENGINE_CRASHED',
    'ENGINE_STALLED',
    'ENGINE_CLOSED',
    'ENGINE_REFUSED',
    'ENGINE_MISCONFIGURED',
    'WORK_DIRECTORY_FULL',
  ],
  analysis: ['TRANSCRIPT_UNREADABLE', 'RESULT_NOT_STORED'],
} as const;
