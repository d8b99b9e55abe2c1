import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture } from '../test/fixture.ts';

const ORIGIN = 'https://tools.example.com';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture({ corsOrigins: [ORIGIN], publicUrl: 'https://calls.example.com/base' });
});
afterAll(() => fixture?.close());

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

function callTool(name: string, given: object, role?: string) {
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
  return fixture.request('POST', '/mcp', { json, ...(role !== undefined && { role: role as 'ADMIN' }) });
}

function resultOf(body: Record<string, unknown>) {
  const { isError, content } = body['result'] as { isError?: boolean; content: [{ text: string }] };
  return { isError: isError === true, said: JSON.parse(content[0].text) as Record<string, unknown> };
}

describe('the Origin header', () => {
  it.each([undefined, ORIGIN, 'https://calls.example.com'])('%s may use the tools', async (origin) => {
    const headers: Record<string, string> = origin === undefined ? {} : { origin };
    expect(await fixture.request('POST', '/mcp', { json: listTools, headers })).toMatchObject({ status: 200 });
  });

  it('of the own address on loopback may use the tools', async () => {
    const headers = { origin: fixture.url };
    expect(await fixture.request('POST', '/mcp', { json: listTools, headers })).toMatchObject({ status: 200 });
  });

  it.each(['https://evil.example.com', 'null', 'http://127.0.0.1:1', 'http://calls.example.com'])(
    '%s is refused',
    async (origin) => {
      const { status, body } = await fixture.request('POST', '/mcp', { json: listTools, headers: { origin } });
      expect(status).toBe(403);
      expect(body).toMatchObject({ status: 'error', code: 'ORIGIN_NOT_ALLOWED' });
    },
  );
});

describe('requests', () => {
  it('without a token are refused', async () => {
    const headers = { authorization: '' };
    const { status, headers: sent } = await fixture.request('POST', '/mcp', { json: listTools, headers });
    expect(status).toBe(401);
    expect(sent.get('www-authenticate')).toBe('Bearer');
  });

  it('GET and DELETE, which sessions would need, are refused with the methods that there are', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await fixture.request(method, '/mcp');
      expect(status).toBe(405);
      expect(headers.get('allow')).toBe('POST, OPTIONS');
    }
  });

  it('that are no message of the protocol are refused in the form of every error', async () => {
    const { status, body } = await fixture.request('POST', '/mcp', { json: { hello: 1 } });
    expect(status).toBe(400);
    expect(body).toMatchObject({ status: 'error', code: 'INVALID_MCP_MESSAGE' });
  });

  it('of arguments nested 200,000 deep are refused', async () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_calls","arguments":${deep}}}`;
    const response = await fixture.request('POST', '/mcp', { body, headers: { 'content-type': 'application/json' } });
    expect([response.status, response.body['code']]).toEqual([400, 'INVALID_JSON']);
  });

  it('are counted by the same rate limits as every other', async () => {
    const { headers } = await fixture.request('POST', '/mcp', { json: listTools });
    expect(headers.get('ratelimit')).toMatch(/firm/);
  });
});

describe('tools', () => {
  it('ask as the caller, for the firm of the token', async () => {
    const seen: unknown[] = [];
    fixture.calls.listCalls = async (request) => {
      const { status, score_min } = JSON.parse(request.filter_json!);
      seen.push(request.caller?.firm_uuid, status, score_min);
      return { count: 0, items: [], next_cursor: null, count_is_estimate: false } as never;
    };
    const { body } = await callTool('search_calls', { status: ['failed', 'queued'], score_min: 12.5 });
    expect(resultOf(body)).toEqual({
      isError: false,
      said: { count: 0, count_is_estimate: false, items: [], next_cursor: null },
    });
    const { firm } = await import('../test/fixture.ts');
    expect(seen).toEqual([firm.uuid, ['failed', 'queued'], 12.5]);
  });

  it('refuse what the API refuses, with the code and what to do', async () => {
    const wrong = await callTool('search_calls', { score_min: 90, score_max: 10 });
    expect(wrong.status).toBe(200);
    expect(resultOf(wrong.body)).toMatchObject({
      isError: true,
      said: { code: 'VALIDATION_ERROR', message: expect.stringMatching(/score_max: must not be below/) },
    });
    const forbidden = await callTool('list_scorecards', {}, 'WORKFLOW_ENGINEER');
    expect(resultOf(forbidden.body)).toMatchObject({
      isError: true,
      said: { code: 'FORBIDDEN', message: 'This requires the role ADMIN.' },
    });
  });

  it('that fail because of a bug reveal nothing about it', async () => {
    fixture.calls.getCall = async () => ({ call: null, audio: null, analyses_json: [], history: [] });
    const { body } = await callTool('get_call', { uuid: '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301' });
    expect(resultOf(body)).toMatchObject({ isError: true, said: { code: 'INTERNAL' } });
    expect(fixture.log).toContainEqual(expect.objectContaining({ msg: 'a tool failed' }));
  });

  it('leave their name in the log, but not their arguments', async () => {
    const before = fixture.log.length;
    fixture.calls.listCalls = async () => ({ count: 0, items: [], next_cursor: undefined, count_is_estimate: false });
    await callTool('search_calls', { q: 'secretword' });
    await callTool('nosuchtool', { q: 'secretword' });
    const lines = fixture.log.slice(before).filter((line) => line['route'] === '/mcp');
    expect(lines.map((line) => line['tool'])).toEqual(['search_calls', undefined]);
    expect(JSON.stringify(lines)).not.toMatch(/secretword|nosuchtool/);
  });
});
