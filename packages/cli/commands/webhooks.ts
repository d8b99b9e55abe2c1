import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '@call-analysis/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError, exitCodes } from '../exit-codes.ts';
import { printable, type Session, table } from '../session.ts';

interface ListenOptions {
  readonly port: number;
  readonly host: string;
  readonly secret?: string;
  readonly forward?: string;
}

const PATH = '/api/v1/webhooks';
const MAX_BODY_BYTES = 1024 * 1024;
const FORWARD_MS = 15_000;
const SIGNED = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];

export function addWebhookCommands(program: Command, session: Session): void {
  const webhooks = program.command('webhooks').description('Addresses to which events are sent. Needs the role ADMIN.');
  webhooks
    .command('list')
    .description('List the webhooks of the firm.')
    .addHelpText('after', '\nExample:\n  $ call-analysis webhooks list')
    .action(async () => {
      const client = await session.client();
      const all = await Array.fromAsync(client.pages((query) => client.api.GET(PATH, { params: { query } })));
      const rows = all.map(({ uuid, enabled, url, events }) => [uuid, enabled, url, events.join(' ')]);
      session.print(all, table(['uuid', 'enabled', 'url', 'events'], rows));
    });
  webhooks
    .command('listen')
    .description('Print deliveries as they arrive at this machine, and forward them. Point a webhook or a tunnel here.')
    .option('--port <port>', 'where to listen; 0 picks a free one', portOf, 4040)
    .option('--host <host>', 'where to listen', '127.0.0.1')
    .addOption(new Option('--secret <whsec>', 'refuse what is not signed with it').env('CALL_ANALYSIS_WEBHOOK_SECRET'))
    .option('--forward <url>', 'send each delivery there too, with its signature, and answer as it does')
    .addHelpText('after', '\nExample:\n  $ call-analysis webhooks listen --forward http://127.0.0.1:3000/hooks')
    .action((options: ListenOptions) => listen(session, options));
}

function portOf(given: string): number {
  if (!/^\d{1,5}$/.test(given) || Number(given) > 65_535) throw new InvalidArgumentError('Write a number up to 65535.');
  return Number(given);
}

/** Until the command is interrupted, which is its regular end. */
async function listen(session: Session, options: ListenOptions): Promise<void> {
  if (options.forward !== undefined && !URL.canParse(options.forward)) {
    throw new CliError(exitCodes.usage, '--forward must be a URL, such as http://127.0.0.1:3000/hooks.');
  }
  const server = createServer((request, response) => {
    receive(session, options, request, response).catch((error: unknown) => {
      session.say(error instanceof Error ? error.message : String(error));
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
  });
  server.listen(options.port, options.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new CliError(exitCodes.failed, `${options.host}:${options.port} is not free: ${(error as Error).message}`);
  }
  const { port } = server.address() as AddressInfo;
  session.say(`Listening on http://${options.host}:${port}/`);
  if (!session.signal.aborted) await once(session.signal, 'abort');
  server.close();
  server.closeAllConnections();
}

async function receive(
  session: Session,
  { secret, forward }: ListenOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const body = await bodyOf(request);
  if (body === null) return void response.writeHead(413, { connection: 'close' }).end();
  if (secret !== undefined) {
    try {
      verifyWebhook(secret, request.headers, body);
    } catch (error) {
      session.say(`A delivery was refused: ${error instanceof Error ? error.message : String(error)}`);
      return void response.writeHead(401).end();
    }
  }
  const { 'webhook-id': id } = request.headers;
  const text = body.toString();
  if (session.isJson) session.terminal.stdout.write(`${printable(text)}\n`);
  else session.terminal.stdout.write(`${printable(id)} ${printable(text)}\n`);
  const status = forward === undefined ? 204 : await send(forward, request, body);
  response.writeHead(status).end();
}

/** Null when it is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function send(url: string, { headers }: IncomingMessage, body: Buffer<ArrayBuffer>): Promise<number> {
  const signed = SIGNED.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []));
  const init = { method: 'POST', headers: Object.fromEntries(signed) as Record<string, string>, body };
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(FORWARD_MS) });
  await response.body?.cancel();
  return response.status;
}
