import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ApiError, Client, Unreachable, type UploadState, verifyWebhook } from '@call-analysis/client';
import { bareEnvironment } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newFirm, type Client as User } from '../../test/client/new-firm.ts';
import { csvOf } from '../../test/client/valid-uploads.ts';
import type { RunningService } from '../../test/system/service-process.ts';

const samples = fileURLToPath(new URL('../../../../samples/', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const readme = fileURLToPath(new URL('../../../../packages/client/README.md', import.meta.url));

export function describeClient(running: () => RunningService): void {
  let service: RunningService;
  let user: User;
  let client: Client;
  let integration: Client;
  beforeAll(async () => {
    service = running();
    user = await newFirm(service, { role: 'ADMIN' });
    client = new Client({ url: service.url, token: user.token });
    const superuser = await newFirm(service, { role: 'SUPERUSER', firm: user.firmUuid });
    const { api_key } = await superuser.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
      firm_uuid: user.firmUuid,
    });
    integration = new Client({ url: service.url, apiKey: api_key });
  });

  function csv(rows: number, prefix: string) {
    const body = csvOf(Array.from({ length: rows }, (_, at) => ({ partner_call_id: `${prefix}-${at}` })));
    return { name: 'calls.csv', data: new Blob([body]) };
  }

  it("the README's example runs as it is printed", async () => {
    const [, example = ''] = /```ts\n(.*?)```/s.exec(await readFile(readme, 'utf8')) ?? [];
    const code = example
      .replace('http://127.0.0.1:8080', service.url)
      .replace("openAsBlob('calls.csv')", `openAsBlob(${JSON.stringify(`${samples}transcripts.csv`)})`);
    const child = spawn(process.execPath, ['--input-type=module-typescript'], {
      cwd: here,
      env: { ...bareEnvironment(), CALL_ANALYSIS_TOKEN: user.token },
    });
    child.stdin.end(code);
    const [printed, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(`${printed}${said}`).toMatch(/^\d+ calls were accepted\.\n(?:.+ [\d.]+\n)+\d+ calls in all\.$/m);
  });

  describe.each([
    ['a user', () => client],
    ['an integration with an API key', () => integration],
  ])('%s', (name, get) => {
    it('uploads, waits, and walks all pages', async () => {
      const sent: number[] = [];
      const file = csv(120, name);
      const result = await get().upload({
        csv: file,
        onProgress: ({ step, sentBytes, totalBytes }) => {
          if (step !== 'metadata') return;
          expect(totalBytes).toBe(file.data.size);
          sent.push(sentBytes);
        },
      });
      expect(result).toMatchObject({ accepted: 120, duplicates: 0 });
      expect(sent.at(-1)).toBe(file.data.size);
      const batch = await get().waitForBatch(result.batch_id, { everyMs: 50 });
      expect(batch.by_status).toMatchObject({ completed: 120 });
      const found = await Array.fromAsync(get().calls({ batch: result.batch_id }));
      expect(new Set(found.map((call) => call.uuid)).size).toBe(120);
    });
  });

  it('a failed upload continues where it stopped, and creates one batch', async () => {
    const states: UploadState[] = [];
    const puts: string[] = [];
    const file = csv(3, 'resumed');
    const failing = new Client({
      url: service.url,
      token: user.token,
      retries: 0,
      fetch: async (input, init) => {
        const url = input instanceof Request ? input.url : String(input);
        if (url.endsWith('/process-upload')) throw new TypeError('the network is gone');
        if (init?.method === 'PUT') puts.push(url);
        return fetch(input, init);
      },
    });
    const onState = (state: UploadState) => void states.push(structuredClone(state));
    await expect(failing.upload({ csv: file, onState })).rejects.toThrow(Unreachable);
    const resume = states.at(-1)!;
    expect(resume.done).toEqual(['metadata']);
    expect(puts).toHaveLength(1);
    const first = await client.upload({ csv: file, resume });
    expect(first).toMatchObject({ accepted: 3 });
    // The answer may have been lost too.
    expect(await client.upload({ csv: file, resume })).toEqual(first);
  });

  it('a refusal is an ApiError with code, details and request id', async () => {
    const bad = { name: 'calls.csv', data: new Blob(['a,b\n1,2\n']) };
    const error = await client.upload({ csv: bad }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, code: 'MISSING_COLUMN', requestId: expect.stringMatching(/./) });
  });

  it('a file is put with its length, as S3 requires, and 503 is waited out', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      request.resume();
      seen.push(request.headers['content-length']);
      response.writeHead(seen.length === 1 ? 503 : 200).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    try {
      const urls = { metadata_upload_url: url, metadata_key: 'no-such-key', expires_in: 3600 };
      const resume = { urls, expiresAt: new Date(Date.now() + 3_600_000).toISOString(), done: [] };
      const file = csv(10, 'length');
      await expect(client.upload({ csv: file, resume })).rejects.toThrow(ApiError);
      expect(seen).toEqual([`${file.data.size}`, `${file.data.size}`]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('a delivery is verified, and one that was changed is refused', () => {
    const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
    const body = JSON.stringify({ type: 'call.completed', timestamp: '2026-01-01T00:00:00Z', data: { score: 90 } });
    const now = new Date();
    const headers = {
      'webhook-id': 'm1',
      'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
      'webhook-signature': new Webhook(secret).sign('m1', now, body),
    };
    expect(verifyWebhook(secret, headers, body)).toMatchObject({ type: 'call.completed', data: { score: 90 } });
    expect(verifyWebhook(secret, new Headers(headers), Buffer.from(body))).toMatchObject({ type: 'call.completed' });
    expect(() => verifyWebhook(secret, headers, body.replace('90', '91'))).toThrow();
  });
}
