import type { IncomingMessage } from 'node:http';
import { PageQuery } from '@call-analysis/api/fields';
import { BatchItem, BatchPage } from '@call-analysis/api/uploads';
import type { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { OperationDocs } from '../../http/operation-docs.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import { type Response, sendStream } from '../../http/response/send.ts';
import { pathForCaller } from '../offered.ts';
import { callerOf, readAnswer, servedBy, type Services } from '../rpc-caller.ts';

const PATH = '/api/v1/calls/batches';
const REJECTED = '/api/v1/calls/rejected';

type Batch = z.output<typeof BatchItem>;

export const rejectedDocs = {
  id: 'getRejectedRows',
  summary: 'Get the refused rows of an upload',
  description:
    'The refused rows as they were uploaded, with the reasons in a last column `reject_reason`. The file can be corrected and uploaded again as it is. It is kept for 7 days.',
  responses: {
    200: { description: 'A CSV.', type: 'text/csv', headers: { 'Content-Disposition': 'The file name.' } },
  },
} satisfies Omit<OperationDocs, 'tag'>;

/** docs/api.md, "Calls"; the CSVs of refused rows, "Presigned uploads". */
export function batches({ ingest }: Services, publicUrl: PublicUrl): Endpoint[] {
  const endpoint = servedBy(ingest, { tag: 'Batches' });
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
      id: 'listBatches',
      summary: 'List batches',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of batches.', schema: BatchPage } },
      async handle({ caller, query, request }) {
        const page = readAnswer<z.output<typeof BatchPage>>(
          await ingest.listBatches({ caller: callerOf(caller), ...query }),
        );
        return { status: 200, body: { ...page, items: page.items.map((batch) => reachable(batch, request)) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:batch_id`,
      id: 'getBatch',
      summary: 'Get a batch',
      description: 'The progress of a batch: its calls by status.',
      responses: { 200: { description: 'The batch.', schema: BatchItem } },
      async handle({ caller, params, request }) {
        const batch = readAnswer<Batch>(
          await ingest.getBatch({ caller: callerOf(caller), batch_uuid: params.batch_id }),
        );
        return { status: 200, body: reachable(batch, request) };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${REJECTED}/:uuid`,
      ...rejectedDocs,
      async handle({ caller, params, response }) {
        await downloadRejected(ingest, params.uuid, caller, response);
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
  ingest: Services['ingest'],
  uuid: string,
  caller: Caller,
  response: Response,
): Promise<void> {
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="rejected-${uuid}.csv"`,
  };
  const asked = { caller: callerOf(caller), rejected_uuid: uuid };
  return sendStream(response, headers, (options) => ingest.downloadRejected(asked, options));
}

/** The URL of a CSV of refused rows, for the caller of this request. */
export function rejectedUrl(publicUrl: PublicUrl, request: IncomingMessage, rejectedUuid: string): string {
  return publicUrl(request, pathForCaller(request, `${REJECTED}/${rejectedUuid}`));
}
