import { describe, expect, it } from '@jest/globals';
import { openFixture } from '../../test/fixture.ts';

describe('the description of the events', () => {
  it('is an AsyncAPI 3 document, served as the OpenAPI document is', async () => {
    const edge = await openFixture();
    try {
      const [events, api] = await Promise.all(
        ['/asyncapi.json', '/openapi.json'].map((path) =>
          edge.request('GET', path, { headers: { authorization: '' } }),
        ),
      );
      expect([events!.status, events!.body['asyncapi']]).toEqual([200, '3.0.0']);
      expect(Object.keys(events!.body['channels'] as object)).toContain('call.ended.v1');
      expect([...events!.headers.keys()].toSorted()).toEqual([...api!.headers.keys()].toSorted());
      for (const name of ['content-type', 'cache-control', 'x-content-type-options'])
        expect([name, events!.headers.get(name)]).toEqual([name, api!.headers.get(name)]);
    } finally {
      await edge.close();
    }
  });

  it('has the prefix of the topics', async () => {
    const topics = { create: true, partitions: 1, replication: -1, retentionMs: 1000 };
    const kafka = { brokers: ['kafka:9092'], prefix: 'calls.', topics };
    const edge = await openFixture({ bus: { transport: 'kafka', kafka } });
    try {
      const { body } = await edge.request('GET', '/asyncapi.json');
      expect(body['channels']).toMatchObject({ 'call.ended.v1': { address: 'calls.call.ended.v1' } });
    } finally {
      await edge.close();
    }
  });
});
