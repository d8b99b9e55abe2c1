import type { IncomingMessage } from 'node:http';
import { page, size } from '@call-analysis/api/fields';
import { BatchItem, BatchPage } from '@call-analysis/api/uploads';
import type { ingest } from '@call-analysis/proto';
import type { Batch } from '@call-analysis/proto/ingest/v1/Batch';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { OperationDocs } from '../../http/operation-docs.ts';
import { pathUuid } from '../../http/request/parse.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import type { Response } from '../../http/response/response.ts';
import { sendStream } from '../../http/response/send.ts';
import { pathForCaller } from '../external.ts';
import { callerOf } from '../rpc-caller.ts';

const PATH = '/api/v1/calls/batches';
const REJECTED = '/api/v1/calls/rejected';

export const rejectedDocs = {
  tag: 'Batches',
  id: 'getRejectedRows',
  summary: 'Get the refused rows of an upload',
  description:
    'The refused rows as they were uploaded, with the reasons in a last column `reject_reason`. The file can be corrected and uploaded again as it is. It is kept for 7 days.',
  responses: {
    200: { description: 'A CSV.', type: 'text/csv', headers: { 'Content-Disposition': 'The file name.' } },
  },
} satisfies OperationDocs;

/** docs/api.md, "Calls"; the CSVs of refused rows, "Presigned uploads". */
export function batches(
  catalogue: Pick<Client<typeof ingest>, 'listBatches' | 'getBatch' | 'downloadRejected'>,
  publicUrl: PublicUrl,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      credentials: 'bearer',
      query: z.strictObject({ page, size }),
      docs: {
        tag: 'Batches',
        id: 'listBatches',
        summary: 'List batches',
        description: 'Newest first.',
        responses: { 200: { description: 'A page of batches.', schema: BatchPage } },
      },
      async handle({ caller, query, request }) {
        const { count, items } = await catalogue.listBatches({ caller: callerOf(caller), ...query });
        return { status: 200, body: { count, items: items.map((batch) => batchJson(batch, request)) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:batch_id`,
      credentials: 'bearer',
      docs: {
        tag: 'Batches',
        id: 'getBatch',
        summary: 'Get a batch',
        description: 'The progress of a batch: its calls by status.',
        responses: { 200: { description: 'The batch.', schema: BatchItem } },
      },
      async handle({ caller, params, request }) {
        const batch_id = pathUuid(params['batch_id'], 'batch');
        return {
          status: 200,
          body: batchJson(await catalogue.getBatch({ caller: callerOf(caller), batch_uuid: batch_id }), request),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${REJECTED}/:uuid`,
      credentials: 'bearer',
      docs: rejectedDocs,
      async handle({ caller, params, response }) {
        await downloadRejected(catalogue, pathUuid(params['uuid'], 'file of refused rows'), caller, response);
        return undefined;
      },
    }),
  ];

  function batchJson(batch: Batch, request: IncomingMessage) {
    return {
      batch_id: batch.batch_uuid,
      kind: batch.kind,
      created_at: batch.created_at,
      accepted: batch.accepted,
      duplicates: batch.duplicates,
      rejected: batch.rejected,
      by_status: batch.by_status,
      erased: batch.erased ?? 0,
      finished_at: batch.finished_at ?? null,
      file_name: batch.file_name ?? null,
      archive_name: batch.archive_name ?? null,
      uploaded_by: batch.uploaded_by ?? null,
      rejected_csv_url: batch.rejected_uuid === undefined ? null : rejectedUrl(publicUrl, request, batch.rejected_uuid),
    };
  }
}

/** Sends the firm's CSV of refused rows. */
export function downloadRejected(
  catalogue: Pick<Client<typeof ingest>, 'downloadRejected'>,
  uuid: string,
  caller: Caller,
  response: Response,
): Promise<void> {
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="rejected-${uuid}.csv"`,
  };
  const asked = { caller: callerOf(caller), rejected_uuid: uuid };
  return sendStream(response, headers, (options) => catalogue.downloadRejected(asked, options));
}

/** The URL of a CSV of refused rows, for the caller of this request. */
export function rejectedUrl(publicUrl: PublicUrl, request: IncomingMessage, rejectedUuid: string): string {
  return publicUrl(request, pathForCaller(request, `${REJECTED}/${rejectedUuid}`));
}
