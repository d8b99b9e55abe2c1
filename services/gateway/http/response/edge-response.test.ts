import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture } from '../../test/fixture.ts';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
  edge.calls.listCalls = async () => ({ count: 0, items: [] });
});

afterAll(() => edge.close());

describe('a request id that is the name of a header', () => {
  const names = ['content-type', 'content-length', 'www-authenticate', 'ratelimit', 'ratelimit-policy', 'connection'];

  it.each(names)('changes no header of a response: %s', async (name) => {
    const headers = { 'x-request-id': name };
    const usual = await edge.request('GET', '/api/v1/calls');
    const response = await edge.request('GET', '/api/v1/calls', { headers });
    expect([response.status, response.text]).toEqual([200, usual.text]);
    expect(response.headers.get('x-request-id')).toBe(name);
    expect([...response.headers.keys()]).toEqual([...usual.headers.keys()]);
    for (const same of ['content-type', 'content-length', 'connection', 'ratelimit-policy']) {
      expect([same, response.headers.get(same)]).toEqual([same, usual.headers.get(same)]);
    }
  });

  it.each(names)('changes no header of an error: %s', async (name) => {
    const response = await edge.request('GET', '/api/v1/calls', {
      headers: { 'x-request-id': name, authorization: '' },
    });
    expect([response.status, response.body['code']]).toEqual([401, 'UNAUTHENTICATED']);
    expect(response.headers.get('x-request-id')).toBe(name);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(response.text)));
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });
});
