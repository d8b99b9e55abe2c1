import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pullModel } from './main.ts';

let server: Server;
let url: string;
let requests: string[];
/** What Ollama answers to each pull, in turn; after a pull without an error it has the model. */
let pulls: object[][];
let isThere: boolean;

beforeEach(async () => {
  [requests, pulls, isThere] = [[], [], false];
  server = createServer(async (request, response) => {
    const { model } = JSON.parse(await text(request)) as { model: string };
    requests.push(`${request.url} ${model}`);
    if (request.url === '/api/show') return void response.writeHead(isThere ? 200 : 404).end('{}');
    const lines = pulls.shift() ?? [];
    isThere = !lines.some((line) => 'error' in line);
    for (const line of lines) response.write(`${JSON.stringify(line)}\n`);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => void server.close());

async function pulled(model: string): Promise<string[]> {
  const said: string[] = [];
  await pullModel(url, model, { say: (line) => said.push(line), saidEveryMs: 0, retryMs: 1 });
  return said;
}

it('pulls a model and says how far it is, over all of its files', async () => {
  pulls = [
    [
      { status: 'pulling manifest' },
      { status: 'pulling a', digest: 'a', total: 2e9, completed: 5e8 },
      { status: 'pulling b', digest: 'b', total: 2e9 },
      { status: 'pulling b', digest: 'b', total: 2e9, completed: 2e9 },
      { status: 'success' },
    ],
  ];
  expect(await pulled('qwen3:4b-instruct')).toEqual([
    'Ollama pulls qwen3:4b-instruct.',
    'qwen3:4b-instruct: 0.5 of 2.0 GB (25 %)',
    'qwen3:4b-instruct: 0.5 of 4.0 GB (12 %)',
    'qwen3:4b-instruct: 2.5 of 4.0 GB (62 %)',
    'Ollama has qwen3:4b-instruct.',
  ]);
});

it('pulls nothing that is there', async () => {
  isThere = true;
  expect(await pulled('m')).toEqual(['Ollama has m.']);
  expect(requests).toEqual(['/api/show m']);
});

it('tries again after an interruption, and gives up a model that does not exist', async () => {
  pulls = [[{ error: 'max retries exceeded: EOF' }], [{ status: 'success' }]];
  expect((await pulled('m')).filter((line) => line.includes('not there yet'))).toEqual([
    'm is not there yet: max retries exceeded: EOF. Trying again.',
  ]);
  isThere = false;
  pulls = [[{ error: 'pull model manifest: file does not exist' }]];
  await expect(pulled('no-such-model')).rejects.toThrow('file does not exist');
});
