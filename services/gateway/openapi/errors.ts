type ErrorEntry = readonly [status: number, message: string, code?: string];

/**
 * Every code of a response of 400 and above, with its status and an example of its message (docs/api.md, "Errors").
 * A code that has two statuses is listed twice, the second time under another name.
 */
const known = {
  VALIDATION_ERROR: [400, 'Fields are wrong: size must be a whole number from 1 to 100.'],
  INVALID_JSON: [400, 'The body is not valid JSON.'],
  INVALID_REQUEST: [400, 'This is not a well-formed HTTP request.'],
  MISSING_FILE: [400, 'audio_file is missing.'],
  INVALID_FILE_FORMAT: [400, 'The extension must be one of .aiff, .au, .flac, .mp3, .ogg, .wav.'],
  INVALID_PHONE_NUMBER: [400, 'client_phone_number must be 7 to 15 digits.'],
  AUDIO_FILENAME_MISMATCH: [400, 'The name of the file differs from audio_file_name.'],
  AUDIO_UNREADABLE: [400, 'The recording cannot be read.'],
  AUDIO_NOT_STEREO: [400, 'The recording has 1 channel; it must have 2.'],
  UPLOAD_NOT_FOUND: [400, 'Nothing was uploaded to metadata_key.'],
  UPLOAD_EXPIRED: [400, 'The upload is older than an hour. Start a new one.'],
  UPLOAD_KIND_MISMATCH: [400, 'This upload includes recordings. Send audios_key too.'],
  INVALID_ENCODING: [400, 'The file is not UTF-8. Save it as UTF-8.'],
  INVALID_CSV: [400, 'A quote is not closed.'],
  MISSING_COLUMN: [400, 'Columns are missing: start_time.'],
  DUPLICATE_COLUMN: [400, 'Columns are repeated: start_time.'],
  EMPTY_FILE: [400, 'The file has no records.'],
  STORAGE_QUOTA_EXCEEDED: [400, "Your firm's storage quota is 1000000000 bytes."],
  TOO_MANY_ROWS: [400, 'The file has too many rows.'],
  INVALID_ZIP: [400, 'The archive is not a ZIP.'],
  UNSAFE_ARCHIVE: [400, 'Entries of the archive overlap.'],
  NESTED_FOLDER: [400, 'All recordings must be in the root of the archive.'],
  VALIDATION_FAILED: [400, '2 of 53 rows have errors. Nothing was accepted.'],
  URL_NOT_ALLOWED: [400, '127.0.0.1 is not an address on the public internet.'],
  UNAUTHENTICATED: [401, 'Send the header `Authorization: Bearer <token>`.'],
  API_KEY_REQUIRED: [401, 'Send your API key in the header `x-service-api-key`.'],
  API_KEY_MALFORMED: [401, 'An API key is 7 characters, a `$` and 43 more characters.'],
  FORBIDDEN: [403, 'This requires the role SUPERUSER.'],
  API_KEY_INVALID: [403, 'This API key is not active. Create a new one for your firm.'],
  NOT_FOUND: [404, 'There is no such call.'],
  METHOD_NOT_ALLOWED: [405, 'This address accepts GET, HEAD, OPTIONS.'],
  REQUEST_TIMEOUT: [408, 'The body took too long to arrive. Send it again.'],
  KEY_EXISTS: [409, 'The firm already has an active key.'],
  INVALID_TRANSITION: [409, 'The campaign is completed.'],
  EXTERNAL_ID_EXISTS: [409, 'Another campaign of the firm has this external_id.'],
  PRICES_UNKNOWN: [409, 'Nobody knows what the language model costs. Have its prices configured first.'],
  ANALYSIS_CHANGED: [409, 'This is not the current analysis of the call. Read the call again.'],
  NOT_RETRYABLE: [409, 'Only a failed call whose failure is retryable can be retried.'],
  WEBHOOK_DISABLED: [409, 'The webhook is disabled. Enable it first.'],
  TOO_MANY_WEBHOOKS: [409, 'A firm has at most 100 webhooks.'],
  NO_TIMES: [409, 'This transcript has no times. Use the format txt or json.'],
  REVISION_CONFLICT: [412, 'The scorecard has a newer revision than the one that you changed.'],
  BODY_TOO_LARGE: [413, 'A JSON body may have at most 1 MiB.'],
  FILE_TOO_LARGE: [400, 'The file has more than 52428800 bytes (50 MB). Send a smaller one.'],
  UPLOAD_TOO_LARGE: [413, 'This file may have at most 5368709120 bytes.', 'FILE_TOO_LARGE'],
  RANGE_NOT_SATISFIABLE: [416, 'The file has 1024 bytes.'],
  RATE_LIMITED: [429, 'Too many requests. Try again in 2 s.'],
  HEADERS_TOO_LARGE: [431, 'A request line and its headers may have at most 16384 bytes.'],
  INTERNAL: [500, 'Something went wrong on our side. Quote the request id when you report it.'],
  UNAVAILABLE: [503, 'ingest does not answer. Try again shortly.'],
  INSUFFICIENT_STORAGE: [503, 'The store is full. Try again later.'],
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof known;

export const errors: Readonly<Record<ErrorCode, ErrorEntry>> = known;
