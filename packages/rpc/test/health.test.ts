import { setTimeout as pause } from 'node:timers/promises';
import { credentials, makeClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterEach, describe, expect, it } from '@jest/globals';
import { protoPath, service as healthService } from 'grpc-health-check';
import { serveTrial } from './trial.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What another gRPC implementation would call with. */
function plainClient(service: ServiceDefinition, address: string) {
  const client = new (makeClientConstructor(service, 'Plain'))(address, credentials.createInsecure());
  closing.push(() => client.close());
  return client;
}

describe('the standard health service', () => {
  it('is the one that its .proto file describes', () => {
    expect(Object.keys(loadSync(protoPath))).toContain('grpc.health.v1.Health');
  });

  it('tells who watches what is so, each change, and the end', async () => {
    let isReady = true;
    const { server } = await serveTrial(
      {},
      { address: '127.0.0.1:0', ready: () => (isReady ? Promise.resolve() : Promise.reject(new Error('no database'))) },
    );
    closing.push(() => server.stop(0));
    const client = plainClient(healthService as ServiceDefinition, server.address);
    const seen: string[] = [];
    const watch = client.Watch!({ service: 'call_analysis.trial.v1.Trial' }) as AsyncIterable<{ status: string }>;
    const watched = (async () => {
      for await (const { status } of watch) seen.push(status);
    })();
    while (seen.length < 1) await pause(10);
    isReady = false;
    while (seen.length < 2) await pause(10);
    isReady = true;
    while (seen.length < 3) await pause(10);
    // It ends the stream itself: nobody waits here until the time for that is over.
    await server.stop(3_600_000);
    await watched;
    expect(seen).toEqual(['SERVING', 'NOT_SERVING', 'SERVING', 'NOT_SERVING']);
  });

  it('knows what is not served', async () => {
    const { server } = await serveTrial({}, { address: '127.0.0.1:0' });
    closing.push(() => server.stop(0));
    const client = plainClient(healthService as ServiceDefinition, server.address);
    const watch = client.Watch!({ service: 'nobody' }) as AsyncIterable<{ status: string }> & { cancel(): void };
    for await (const { status } of watch) {
      expect(status).toBe('SERVICE_UNKNOWN');
      break;
    }
  });
});
