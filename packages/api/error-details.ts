import { z } from 'zod';

/** Codes of the fields of a call, both in a form and in a row. */
const callCodes = [
  'INVALID_PHONE_NUMBER',
  'INVALID_DATETIME',
  'UNKNOWN_SEGMENT_TYPE',
  'INVALID_CHANNEL',
  'SAME_CHANNEL',
  'INVALID_DIRECTION',
] as const;

/** Codes of a field of a JSON body, a query, a form or the metadata of a recording. */
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

/** Codes of a row (docs/api.md, "Presigned uploads"). */
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
export const FieldErrors = z
  .object({
    fields: z.array(z.object({ field: z.string(), code: FieldCode, message: z.string() }).meta({ id: 'FieldError' })),
  })
  .meta({
    id: 'FieldErrors',
    description: 'For VALIDATION_ERROR and INVALID_PHONE_NUMBER: every field with an error.',
  });

/** `details` of VALIDATION_FAILED. */
export const RowErrors = z
  .object({
    rows: z.int(),
    valid: z.int(),
    invalid: z.int(),
    faults: z
      .array(
        z
          .object({
            row: z.int().nullable().meta({ description: 'The row of a spreadsheet: the header is row 1.' }),
            column: z.string().nullable(),
            value: z.string(),
            code: RowCode,
            message: z.string(),
          })
          .meta({ id: 'RowError' }),
      )
      .meta({ description: 'The first 100 errors.' }),
    faults_truncated: z.boolean(),
    rejected_csv_url: z
      .string()
      .nullable()
      .meta({ description: 'A CSV of the refused rows, to correct and upload again.' }),
  })
  .meta({ id: 'RowErrors', description: 'For VALIDATION_FAILED: the errors by row.' });

/** `details` of every other code. A schema with a property, because generators make a class of each alternative. */
export const OtherDetails = z
  .looseObject({
    allowed: z.array(z.string()).optional().meta({ description: 'For INVALID_TRANSITION: what is possible now.' }),
  })
  .meta({ id: 'OtherDetails', description: 'Details of the error. The fields depend on the code.' });

/** Why a call failed, by stage. A service that was unavailable for too long adds a code like UNAVAILABLE. */
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
  analysis: [
    'TRANSCRIPT_UNREADABLE',
    'RESULT_NOT_STORED',
    'ANALYST_UNAVAILABLE',
    'ANALYST_REFUSED',
    'ANALYST_UNREADABLE',
  ],
} as const;
