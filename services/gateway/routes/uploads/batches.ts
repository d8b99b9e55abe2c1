import type { IncomingMessage } from 'node:http';
import { PageQuery } from '@call-analysis/api/fields';
import { BatchItem, BatchPage } from '@call-analysis/api/uploads';
import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import type { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { OperationDocs } from '../../http/operation-docs.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import type { Response } from '../../http/response/response.ts';
import { sendStream } from '../../http/response/send.ts';
import { pathForCaller } from '../external.ts';
import { callerOf, readAnswer } from '../rpc-caller.ts';

const PATH = '/api/v1/calls/batches';
const REJECTED = '/api/v1/calls/rejected';

type Batch = z.output<typeof BatchItem>;

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
      query: PageQuery,
      tag: 'Batches',
      id: 'listBatches',
      summary: 'List batches',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of batches.', schema: BatchPage } },
      async handle({ caller, query, request }) {
        const page = readAnswer<z.output<typeof BatchPage>>(
          await catalogue.listBatches({ caller: callerOf(caller), ...query }),
        );
        return { status: 200, body: { ...page, items: page.items.map((batch) => reachable(batch, request)) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:batch_id`,
      tag: 'Batches',
      id: 'getBatch',
      summary: 'Get a batch',
      description: 'The progress of a batch: its calls by status.',
      responses: { 200: { description: 'The batch.', schema: BatchItem } },
      async handle({ caller, params, request }) {
        const batch = readAnswer<Batch>(
          await catalogue.getBatch({ caller: callerOf(caller), batch_uuid: params.batch_id }),
        );
        return { status: 200, body: reachable(batch, request) };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${REJECTED}/:uuid`,
      ...rejectedDocs,
      async handle({ caller, params, response }) {
        await downloadRejected(catalogue, params.uuid, caller, response);
        return undefined;
      },
    }),
  ];

  /** The batch with the URL of its refused rows, of which ingest knows the path. */
  function reachable(batch: Batch, request: IncomingMessage): Batch {
    const { rejected_csv_url: path } = batch;
    return { ...batch, rejected_csv_url: path && publicUrl(request, pathForCaller(request, path)) };
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
