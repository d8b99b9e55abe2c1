import { Fault } from '@call-analysis/fault';
import type { ingest } from '@call-analysis/proto';
import type { ProcessUploadReply } from '@call-analysis/proto/ingest/v1/ProcessUploadReply';
import type { Client } from '@call-analysis/rpc';
import type { Request } from 'express';
import { z } from 'zod';
import { endpoint } from '../http/endpoint.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { PublicUrl } from '../http/public-url.ts';
import { rejectedUrl } from './batches.ts';
import { callerOf } from './ingest-caller.ts';

/** Ten million rows take minutes to check. */
const PROCESS_MS = 30 * 60_000;
const MAX_NAME_BYTES = 200;
const MAX_KEY_BYTES = 1024;

const Upload = z.strictObject({
  metadata_filename: fileName('.csv'),
  audios_filename: fileName('.zip').optional(),
});

const ProcessUpload = z.strictObject({
  metadata_key: storageKey(),
  audios_key: storageKey().optional(),
  on_error: z.enum(['reject', 'skip']).default('reject'),
});

/** external-interface.md, "Endpoints" 4 and 6; api.md, section 5. */
export function uploads(
  catalogue: Pick<Client<typeof ingest>, 'openUpload' | 'processUpload'>,
  publicUrl: PublicUrl,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/upload',
      proof: 'bearer',
      body: Upload,
      async handle({ caller, body, request }) {
        const session = await catalogue.openUpload({ caller: callerOf(caller), ...body });
        const { metadata_key, audio_upload_url, audio_key, expires_in } = session;
        const data = {
          metadata_upload_url: publicUrl(request, session.metadata_upload_url),
          metadata_key,
          ...(audio_upload_url !== undefined && { audio_upload_url: publicUrl(request, audio_upload_url), audio_key }),
          expires_in,
        };
        return { status: 200, body: { status: 'success', data } };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/process-upload',
      proof: 'bearer',
      body: ProcessUpload,
      async handle({ caller, body, request }) {
        try {
          // No signal: what a client began is finished, and sending the same keys again gives the same answer.
          const asked = { caller: callerOf(caller), ...body };
          const batch = await catalogue.processUpload(asked, { deadlineMs: PROCESS_MS });
          const { batch_id, accepted, duplicates, rejected, ignored_columns } = batch;
          const counts = { accepted, duplicates, rejected };
          return {
            status: 200,
            body: { status: 'success', data: { message: sentence(batch), batch_id, ...counts, ignored_columns } },
          };
        } catch (error) {
          throw withRejectedUrl(error, request);
        }
      },
    }),
  ];

  /** ingest names the file of refused rows; only the gateway knows its address. */
  function withRejectedUrl(error: unknown, request: Request): unknown {
    if (!(error instanceof Fault) || error.code !== 'VALIDATION_FAILED') return error;
    const { rejected_uuid, ...details } = error.details ?? {};
    const url = typeof rejected_uuid === 'string' ? rejectedUrl(publicUrl, request, rejected_uuid) : null;
    return new Fault(error.kind, error.code, error.message, { details: { ...details, rejected_csv_url: url } });
  }
}

function sentence({ accepted, duplicates, rejected }: ProcessUploadReply): string {
  const parts = [`${calls(accepted)} validated and queued for processing`];
  if (duplicates > 0) parts.push(`${calls(duplicates)} there already`);
  if (rejected > 0) parts.push(`${rejected} ${rejected === 1 ? 'row was' : 'rows were'} refused`);
  return `${parts.join('; ')}.`;
}

function calls(count: number): string {
  return `${count} ${count === 1 ? 'call was' : 'calls were'}`;
}

function fileName(extension: '.csv' | '.zip') {
  return z
    .string()
    .refine((name) => name.toLowerCase().endsWith(extension), `must end in ${extension}`)
    .refine((name) => Buffer.byteLength(name) <= MAX_NAME_BYTES, `must have at most ${MAX_NAME_BYTES} bytes`)
    .refine(
      (name) => name.isWellFormed() && !/[/\\\p{Cc}]/u.test(name),
      'must be a plain file name, without slashes, backslashes and control characters',
    );
}

function storageKey() {
  return z
    .string()
    .refine((key) => key !== '' && Buffer.byteLength(key) <= MAX_KEY_BYTES, `must have 1 to ${MAX_KEY_BYTES} bytes`)
    .refine((key) => key.isWellFormed() && !/\p{Cc}/u.test(key), 'must be a key that an upload was given');
}
