import type { Readable, Writable } from 'node:stream';
import { serveStdio as serve, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { CallsApi } from './calls-api.ts';
import { createServer } from './server.ts';

interface Streams {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Serves the streams until the input ends or the signal is aborted. */
export async function serveStdio(
  api: CallsApi,
  { stdin, stdout, signal }: Streams,
  report: (error: unknown) => void,
): Promise<void> {
  const transport = new StdioServerTransport(stdin as Readable, stdout as Writable);
  const ended = new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    stdin.once('end', resolve).once('close', resolve);
  });
  const handle = serve(() => createServer(api, report), { transport, onerror: report });
  await ended;
  await handle.close();
}
