import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { long } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually, retryUntilSuccess } from '../../test/client/retry.ts';
import { csvOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const CALLS = 120;

interface Received {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly call_uuid?: string; readonly batch_id?: string; readonly by_status?: object };
}

/** A test of the service itself kills its processes in every run. */
export function describeWebhooks(system: () => SystemUnderTest): void {
  describe(`webhooks of the complete system${long ? ', which is killed while it sends' : ''}`, () => {
    const received: Received[] = [];
    let sink: Server;
    let service: SystemUnderTest;
    let client: Client;

    beforeAll(async () => {
      sink = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Omit<Received, 'id'>;
        received.push({ ...body, id: String(request.headers['webhook-id']) });
        // Slowly, so that some are always on their way.
        setTimeout(() => response.writeHead(204).end(), 50);
      });
      sink.listen(0, '127.0.0.1');
      await once(sink, 'listening');
      service = system();
      client = await newFirm(service);
    });

    afterAll(() => {
      sink.closeAllConnections();
      sink.close();
    });

    it('report every call and its batch, and repeats have the same webhook-id', async () => {
      const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/hooks`;
      await client.call('POST', '/api/v1/webhooks', {
        url,
        events: ['call.completed', 'call.failed', 'batch.finished'],
      });
      const rows = Array.from({ length: CALLS }, (_, number) => ({ partner_call_id: `call-${number}` }));
      const key = await retryUntilSuccess(() => client.upload(csvOf(rows)));
      const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', {
        metadata_key: key,
      });
      await eventually(async () => received.length > CALLS / 4, 20);
      if (long) {
        await service.kill('webhooks');
        await service.revive();
      }
      const calls = () => new Set(received.flatMap((each) => each.data.call_uuid ?? []));
      await eventually(
        async () => calls().size === CALLS && received.some(({ type }) => type === 'batch.finished'),
        100,
      );
      const idsOf = Map.groupBy(received, (each) => each.data.call_uuid ?? each.data.batch_id);
      for (const repeats of idsOf.values()) expect(new Set(repeats.map(({ id }) => id)).size).toBe(1);
      expect(idsOf.get(data.batch_id)![0]).toMatchObject({
        type: 'batch.finished',
        data: { by_status: { completed: CALLS } },
      });
    });
  });
}
