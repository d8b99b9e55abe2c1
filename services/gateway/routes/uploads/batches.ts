import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ingest } from '@call-analysis/proto';
import type { Batch } from '@call-analysis/proto/ingest/v1/Batch';
import { type Client, LONGEST_CALL_MS } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { page, pathUuid, size } from '../../http/request/fields.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import { SILENCE_MS } from '../../http/response/json-response.ts';
import type { About } from '../../openapi/operation.ts';
import { BatchItem, BatchPage } from '../../response-schemas/uploads.ts';
import { callerOf } from '../ingest-caller.ts';

const PATH = '/api/v1/calls/batches';
const REJECTED = '/api/v1/calls/rejected';

export const aboutRejected = {
  tag: 'Batches',
  summary: 'Get refused rows',
  description:
    'The refused rows as they came, and why, in a last column `reject_reason`. Corrected, the file can be uploaded as it is. Kept for 7 days.',
  answers: {
    200: { description: 'A CSV.', type: 'text/csv', headers: { 'Content-Disposition': 'The name of the file.' } },
  },
} satisfies About;

/** api.md, section 6; the files of refused rows, section 5. */
export function batches(
  catalogue: Pick<Client<typeof ingest>, 'listBatches' | 'getBatch' | 'downloadRejected'>,
  publicUrl: PublicUrl,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      proof: 'bearer',
      query: z.strictObject({ page, size }),
      about: {
        tag: 'Batches',
        summary: 'List batches',
        description: 'Newest first.',
        answers: { 200: { description: 'A page of batches.', schema: BatchPage } },
      },
      async handle({ caller, query, request }) {
        const { count, items } = await catalogue.listBatches({ caller: callerOf(caller), ...query });
        return { status: 200, body: { count, items: items.map((batch) => shape(batch, request)) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:batch_id`,
      proof: 'bearer',
      about: {
        tag: 'Batches',
        summary: 'Get a batch',
        description: 'How far it is: its calls by status.',
        answers: { 200: { description: 'The batch.', schema: BatchItem } },
      },
      async handle({ caller, params, request }) {
        const batch_id = pathUuid(params['batch_id'], 'batch');
        return {
          status: 200,
          body: shape(await catalogue.getBatch({ caller: callerOf(caller), batch_uuid: batch_id }), request),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${REJECTED}/:uuid`,
      proof: 'bearer',
      about: aboutRejected,
      async handle({ caller, params, request, response }) {
        await downloadRejected(catalogue, pathUuid(params['uuid'], 'file of refused rows'), caller, request, response);
        return undefined;
      },
    }),
  ];

  function shape(batch: Batch, request: IncomingMessage) {
    return {
      batch_id: batch.batch_uuid,
      kind: batch.kind,
      created_at: batch.created_at,
      accepted: batch.accepted,
      duplicates: batch.duplicates,
      rejected: batch.rejected,
      by_status: batch.by_status,
      finished_at: batch.finished_at ?? null,
      rejected_csv_url: batch.rejected_uuid === undefined ? null : rejectedUrl(publicUrl, request, batch.rejected_uuid),
    };
  }
}

/** Sends the firm's CSV of refused rows. */
export async function downloadRejected(
  catalogue: Pick<Client<typeof ingest>, 'downloadRejected'>,
  uuid: string,
  caller: Caller,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const file = catalogue.downloadRejected(
    { caller: callerOf(caller), rejected_uuid: uuid },
    // It may be gigabytes on a slow line.
    { deadlineMs: LONGEST_CALL_MS, signal: gone.signal },
  );
  const chunks = file[Symbol.asyncIterator]();
  // The first chunk, or the lack of it, decides between 200 and 404, so headers wait for it.
  let next = await chunks.next();
  response.writeHead(200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="rejected-${uuid}.csv"`,
  });
  if (request.method === 'HEAD') {
    response.end();
    await chunks.return?.();
    return;
  }
  response.setTimeout(SILENCE_MS);
  const bytes = async function* () {
    for (; !next.done; next = await chunks.next()) yield next.value.data;
  };
  await pipeline(Readable.from(bytes(), { objectMode: false }), response);
}

/** Where a bearer of the firm gets the refused rows of an upload. */
export function rejectedUrl(publicUrl: PublicUrl, request: IncomingMessage, rejectedUuid: string): string {
  return publicUrl(request, `${REJECTED}/${rejectedUuid}`);
}
