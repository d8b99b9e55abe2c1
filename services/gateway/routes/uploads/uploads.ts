import { OpenedUpload, ProcessedUpload } from '@call-analysis/api/uploads';
import { Fault } from '@call-analysis/fault';
import type { OpenUploadRequestInit } from '@call-analysis/proto/ingest/v1/OpenUploadRequest';
import type { ProcessUploadReply } from '@call-analysis/proto/ingest/v1/ProcessUploadReply';
import type { ProcessUploadRequestInit } from '@call-analysis/proto/ingest/v1/ProcessUploadRequest';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint.ts';
import type { OperationDocs } from '../../http/operation-docs.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import type { JsonResponse } from '../../http/response/send.ts';
import { callerOf, servedBy, type Services } from '../rpc-caller.ts';
import { rejectedUrl } from './batches.ts';

/** Checking ten million rows takes minutes. */
const PROCESS_MS = 30 * 60_000;
const MAX_NAME_BYTES = 200;
const MAX_KEY_BYTES = 1024;

export const OpenUpload = z
  .strictObject({
    metadata_filename: fileName('.csv'),
    audios_filename: fileName('.zip').optional(),
  })
  .meta({ id: 'OpenUploadRequest', examples: [{ metadata_filename: 'calls.csv', audios_filename: 'recordings.zip' }] });

export const ProcessUpload = z
  .strictObject({
    metadata_key: storageKey(),
    audios_key: storageKey().optional(),
    on_error: z.enum(['reject', 'skip']).default('reject').meta({
      description: 'What to do when rows have errors: reject the upload, or skip these rows.',
    }),
  })
  .meta({
    id: 'ProcessUploadRequest',
    examples: [{ metadata_key: 'UZ/1a2b3c4d/5e6f7a8b/calls.csv', on_error: 'skip' }],
  });

export const openUploadDocs = {
  id: 'openUpload',
  summary: 'Start an upload',
  description:
    'For recordings send both file names: a CSV with metadata and a ZIP with the files. For transcripts send `metadata_filename` alone. PUT the files to the returned URLs, then process the upload.',
  responses: { 200: { description: 'The URLs and keys of the files.', schema: OpenedUpload } },
  errors: ['INSUFFICIENT_STORAGE'],
} satisfies Omit<OperationDocs, 'tag'>;

export const processUploadDocs = {
  id: 'processUpload',
  summary: 'Process an upload',
  description:
    'Checks every row and reports all errors together in `details.faults`. Refused rows can be downloaded as a CSV, corrected and uploaded again. Repeating the request with the same keys returns the same response.',
  responses: {
    200: { description: 'The accepted calls. Processing continues in the background.', schema: ProcessedUpload },
  },
  errors: [
    'FORBIDDEN',
    'UPLOAD_NOT_FOUND',
    'UPLOAD_EXPIRED',
    'UPLOAD_KIND_MISMATCH',
    'INVALID_ENCODING',
    'INVALID_CSV',
    'MISSING_COLUMN',
    'DUPLICATE_COLUMN',
    'EMPTY_FILE',
    'FILE_TOO_LARGE',
    'TOO_MANY_ROWS',
    'STORAGE_QUOTA_EXCEEDED',
    'INVALID_ZIP',
    'UNSAFE_ARCHIVE',
    'NESTED_FOLDER',
    'VALIDATION_FAILED',
    'INSUFFICIENT_STORAGE',
  ],
} satisfies Omit<OperationDocs, 'tag'>;

/** docs/api.md, "Presigned uploads". */
export function uploads({ ingest }: Services, publicUrl: PublicUrl): Endpoint[] {
  const endpoint = servedBy(ingest, { tag: 'Uploads' });
  return [
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/upload',
      body: OpenUpload,
      ...openUploadDocs,
      handle: ({ caller, body, request }) =>
        openUpload(ingest, (url) => publicUrl(request, url), { caller: callerOf(caller), ...body }),
    }),
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/process-upload',
      lane: 'uploads',
      body: ProcessUpload,
      ...processUploadDocs,
      handle: ({ caller, body, request }) =>
        processUpload(ingest, (rejected) => rejectedUrl(publicUrl, request, rejected), {
          caller: callerOf(caller),
          ...body,
        }),
    }),
  ];
}

export async function openUpload(
  ingest: Services['ingest'],
  absolute: (url: string) => string,
  request: OpenUploadRequestInit,
): Promise<JsonResponse> {
  const session = await ingest.openUpload(request);
  const { metadata_key, audio_upload_url, audio_key, expires_in } = session;
  const data = {
    metadata_upload_url: absolute(session.metadata_upload_url),
    metadata_key,
    ...(audio_upload_url !== undefined && { audio_upload_url: absolute(audio_upload_url), audio_key }),
    expires_in,
  };
  return { status: 200, body: { status: 'success', data } };
}

/** `rejectedUrl` returns the URL at which this caller gets a file of refused rows. */
export async function processUpload(
  ingest: Services['ingest'],
  rejectedUrl: (rejectedUuid: string) => string,
  request: ProcessUploadRequestInit,
): Promise<JsonResponse> {
  try {
    // Not aborted when the client leaves: the upload is processed, and sending the same keys again returns the same
    // result.
    const batch = await ingest.processUpload(request, { deadlineMs: PROCESS_MS });
    const { batch_uuid: batch_id, accepted, duplicates, rejected, ignored_columns } = batch;
    const counts = { accepted, duplicates, rejected };
    return {
      status: 200,
      body: { status: 'success', data: { message: messageOf(batch), batch_id, ...counts, ignored_columns } },
    };
  } catch (error) {
    throw withRejectedUrl(error, rejectedUrl);
  }
}

/** ingest returns the uuid of the file of refused rows. Only the gateway knows its URL. */
function withRejectedUrl(error: unknown, rejectedUrl: (rejectedUuid: string) => string): unknown {
  if (!(error instanceof Fault) || error.code !== 'VALIDATION_FAILED') return error;
  const { rejected_uuid, ...details } = error.details ?? {};
  const url = typeof rejected_uuid === 'string' ? rejectedUrl(rejected_uuid) : null;
  return new Fault(error.kind, error.code, error.message, { details: { ...details, rejected_csv_url: url } });
}

/** ingest checks only this many duplicates for calls that have ended. */
const CHECKED_DUPLICATES = 10_000;

function messageOf(batch: ProcessUploadReply): string {
  const { accepted, duplicates, rejected, unnamed_files: unnamed = 0, ended_duplicates: ended = 0 } = batch;
  const parts = [`${calls(accepted)} validated and queued for processing`];
  if (duplicates > 0) parts.push(`${calls(duplicates)} uploaded before`);
  if (rejected > 0) parts.push(`${rejected} ${rejected === 1 ? 'row was' : 'rows were'} refused`);
  if (unnamed > 0) {
    const files = unnamed === 1 ? '1 file' : `${unnamed} files`;
    parts.push(
      `${files} of the archive ${unnamed === 1 ? 'is' : 'are'} not listed in the CSV and ${unnamed === 1 ? 'was' : 'were'} ignored`,
    );
  }
  const counts = `${parts.join('; ')}.`;
  if (ended === 0) return counts;
  const least = duplicates > CHECKED_DUPLICATES ? 'At least ' : '';
  return (
    `${counts} ${least}${ended} of those uploaded before failed permanently or ${ended === 1 ? 'was' : 'were'} canceled. ` +
    'To upload such a call again, first erase it (DELETE /api/v1/calls/{uuid}).'
  );
}

function calls(count: number): string {
  return `${count} ${count === 1 ? 'call was' : 'calls were'}`;
}

function fileName(extension: '.csv' | '.zip') {
  const letters = Array.from(extension.slice(1), (letter) => `[${letter}${letter.toUpperCase()}]`).join('');
  return z
    .string()
    .refine((name) => name.toLowerCase().endsWith(extension), `must end in ${extension}`)
    .refine((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES, `must have at most ${MAX_NAME_BYTES} bytes`)
    .refine(
      (name) => name.isWellFormed() && !/[/\\\p{Cc}]/u.test(name),
      'must be a plain file name, without slashes, backslashes or control characters',
    )
    .meta({
      documentedAs: {
        type: 'string',
        description: `Ends in ${extension}; at most ${MAX_NAME_BYTES} bytes of UTF-8.`,
        maxLength: MAX_NAME_BYTES,
        pattern: `^[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]*\\.${letters}$`,
      },
    });
}

function storageKey() {
  return z
    .string()
    .refine((key) => key !== '' && Buffer.byteLength(key) <= MAX_KEY_BYTES, `must have 1 to ${MAX_KEY_BYTES} bytes`)
    .refine((key) => key.isWellFormed() && !/\p{Cc}/u.test(key), 'must be a key that an upload returned')
    .meta({
      documentedAs: {
        type: 'string',
        description: 'The key that the upload returned.',
        minLength: 1,
        maxLength: MAX_KEY_BYTES,
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
      },
    });
}
