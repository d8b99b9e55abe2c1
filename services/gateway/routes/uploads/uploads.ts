import { Fault } from '@call-analysis/fault';
import type { ingest } from '@call-analysis/proto';
import type { OpenUploadRequestInit } from '@call-analysis/proto/ingest/v1/OpenUploadRequest';
import type { ProcessUploadReply } from '@call-analysis/proto/ingest/v1/ProcessUploadReply';
import type { ProcessUploadRequestInit } from '@call-analysis/proto/ingest/v1/ProcessUploadRequest';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import type { Answer } from '../../http/response/json-response.ts';
import type { About } from '../../openapi/operation.ts';
import { OpenedUpload, ProcessedUpload } from '../../response-schemas/uploads.ts';
import { callerOf } from '../ingest-caller.ts';
import { rejectedUrl } from './batches.ts';

type Catalogue = Client<typeof ingest>;

/** Ten million rows take minutes to check. */
const PROCESS_MS = 30 * 60_000;
const MAX_NAME_BYTES = 200;
const MAX_KEY_BYTES = 1024;

export const Upload = z
  .strictObject({
    metadata_filename: fileName('.csv'),
    audios_filename: fileName('.zip').optional(),
  })
  .meta({ examples: [{ metadata_filename: 'calls.csv', audios_filename: 'recordings.zip' }] });

export const ProcessUpload = z
  .strictObject({
    metadata_key: storageKey(),
    audios_key: storageKey().optional(),
    on_error: z.enum(['reject', 'skip']).default('reject').meta({
      description: 'What to do when rows are at fault: refuse all, or take the good ones.',
    }),
  })
  .meta({ examples: [{ metadata_key: 'UZ/1a2b3c4d/5e6f7a8b/calls.csv', on_error: 'skip' }] });

export const aboutUpload = {
  tag: 'Uploads',
  summary: 'Begin an upload',
  description:
    'With `audios_filename` for recordings: a CSV of their metadata and a ZIP of the files. Without it for transcripts: a CSV alone. Put the files to the URLs, then have them processed.',
  answers: { 200: { description: 'Where to put the files, and their keys.', schema: OpenedUpload } },
  refusals: ['INSUFFICIENT_STORAGE'],
} satisfies About;

export const aboutProcessUpload = {
  tag: 'Uploads',
  summary: 'Process an upload',
  description:
    'Every row is checked and all faults are told at once, in `details.faults`; refused rows come back as a CSV to correct and send again. The same keys again give the same answer.',
  answers: { 200: { description: 'What was taken; processing goes on by itself.', schema: ProcessedUpload } },
  refusals: [
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
    'INVALID_ZIP',
    'UNSAFE_ARCHIVE',
    'NESTED_FOLDER',
    'VALIDATION_FAILED',
    'INSUFFICIENT_STORAGE',
  ],
} satisfies About;

/** external-interface.md, "Endpoints" 4 and 6; api.md, section 5. */
export function uploads(catalogue: Pick<Catalogue, 'openUpload' | 'processUpload'>, publicUrl: PublicUrl): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/upload',
      proof: 'bearer',
      body: Upload,
      about: aboutUpload,
      handle: ({ caller, body, request }) =>
        openUpload(catalogue, (url) => publicUrl(request, url), { caller: callerOf(caller), ...body }),
    }),
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/process-upload',
      proof: 'bearer',
      body: ProcessUpload,
      about: aboutProcessUpload,
      handle: ({ caller, body, request }) =>
        processUpload(catalogue, (rejected) => rejectedUrl(publicUrl, request, rejected), {
          caller: callerOf(caller),
          ...body,
        }),
    }),
  ];
}

export async function openUpload(
  catalogue: Pick<Catalogue, 'openUpload'>,
  absolute: (url: string) => string,
  asked: OpenUploadRequestInit,
): Promise<Answer> {
  const session = await catalogue.openUpload(asked);
  const { metadata_key, audio_upload_url, audio_key, expires_in } = session;
  const data = {
    metadata_upload_url: absolute(session.metadata_upload_url),
    metadata_key,
    ...(audio_upload_url !== undefined && { audio_upload_url: absolute(audio_upload_url), audio_key }),
    expires_in,
  };
  return { status: 200, body: { status: 'success', data } };
}

/** `rejectedUrl` is where this caller gets a file of refused rows. */
export async function processUpload(
  catalogue: Pick<Catalogue, 'processUpload'>,
  rejectedUrl: (rejectedUuid: string) => string,
  asked: ProcessUploadRequestInit,
): Promise<Answer> {
  try {
    // No signal: what a client began is finished, and sending the same keys again gives the same answer.
    const batch = await catalogue.processUpload(asked, { deadlineMs: PROCESS_MS });
    const { batch_uuid: batch_id, accepted, duplicates, rejected, ignored_columns } = batch;
    const counts = { accepted, duplicates, rejected };
    return {
      status: 200,
      body: { status: 'success', data: { message: sentence(batch), batch_id, ...counts, ignored_columns } },
    };
  } catch (error) {
    throw withRejectedUrl(error, rejectedUrl);
  }
}

/** ingest names the file of refused rows; only the gateway knows its address. */
function withRejectedUrl(error: unknown, rejectedUrl: (rejectedUuid: string) => string): unknown {
  if (!(error instanceof Fault) || error.code !== 'VALIDATION_FAILED') return error;
  const { rejected_uuid, ...details } = error.details ?? {};
  const url = typeof rejected_uuid === 'string' ? rejectedUrl(rejected_uuid) : null;
  return new Fault(error.kind, error.code, error.message, { details: { ...details, rejected_csv_url: url } });
}

/** ingest looks at no more of them for calls that have ended. */
const LOOKED_AT_DUPLICATES = 10_000;

function sentence(batch: ProcessUploadReply): string {
  const { accepted, duplicates, rejected, unnamed_files: unnamed = 0, ended_duplicates: ended = 0 } = batch;
  const parts = [`${calls(accepted)} validated and queued for processing`];
  if (duplicates > 0) parts.push(`${calls(duplicates)} there already`);
  if (rejected > 0) parts.push(`${rejected} ${rejected === 1 ? 'row was' : 'rows were'} refused`);
  if (unnamed > 0) {
    const files = unnamed === 1 ? '1 file of the archive is' : `${unnamed} files of the archive are`;
    parts.push(`${files} named by no row and ${unnamed === 1 ? 'was' : 'were'} left out`);
  }
  const counts = `${parts.join('; ')}.`;
  if (ended === 0) return counts;
  const least = duplicates > LOOKED_AT_DUPLICATES ? 'At least ' : '';
  return (
    `${counts} ${least}${ended} of those there already failed for good or ${ended === 1 ? 'was' : 'were'} canceled: ` +
    'to send such a call anew, erase it first (DELETE /api/v1/calls/{uuid}).'
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
      'must be a plain file name, without slashes, backslashes and control characters',
    )
    .meta({
      wire: {
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
    .refine((key) => key.isWellFormed() && !/\p{Cc}/u.test(key), 'must be a key that an upload was given')
    .meta({
      wire: {
        type: 'string',
        description: 'As the upload was given it.',
        minLength: 1,
        maxLength: MAX_KEY_BYTES,
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
      },
    });
}
