import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Service } from '@call-analysis/proto';
import { createLog, type Logger } from '@call-analysis/runtime';
import {
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  loadPackageDefinition,
  type ServiceClientConstructor,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { loadSync, type MethodDefinition } from '@grpc/proto-loader';
import { type Callers, dial, type Handlers, implement, serve, type ServeOptions } from '../index.ts';

interface Ask {
  what: string;
  count: number;
  data: Buffer;
}

interface Answer {
  what: string;
  count: number;
  maybe?: string;
  data: Buffer;
}

type Definition = ServiceDefinition &
  Record<'Echo' | 'Read' | 'Download' | 'Upload', MethodDefinition<Partial<Ask>, Partial<Answer>, Ask, Answer>>;

interface Shapes {
  Echo: handleUnaryCall<Ask, Answer>;
  Read: handleUnaryCall<Ask, Answer>;
  Download: handleServerStreamingCall<Ask, Answer>;
  Upload: handleClientStreamingCall<Ask, Answer>;
}

const loaded = loadPackageDefinition(
  loadSync(fileURLToPath(new URL('trial.proto', import.meta.url)), {
    keepCase: true,
    longs: Number,
    defaults: true,
    oneofs: true,
  }),
) as unknown as { call_analysis: { trial: { v1: { Trial: ServiceClientConstructor } } } };

/** A client as of another gRPC implementation. */
export const PlainClient = loaded.call_analysis.trial.v1.Trial;

export const trial = PlainClient.service as Service<Definition, Shapes>;

export const nothing = Buffer.alloc(0);

const echoHandlers: Handlers<typeof trial> = {
  echo: async ({ what, count, data }) => ({ what, count, data }),
  read: async ({ what, count, data }) => ({ what, count, data }),
  async *download({ what, count, data }) {
    for (let index = 0; index < count; index += 1) yield { what, count: index, data };
  },
  async upload(requests) {
    let count = 0;
    let bytes = 0;
    for await (const request of requests) {
      count += 1;
      bytes += request.data.length;
    }
    return { what: String(bytes), count, data: nothing };
  },
};

const callers: Callers<typeof trial> = {
  echo: ['gateway'],
  read: ['gateway', 'ingest'],
  download: ['gateway'],
  upload: ['gateway'],
};

/** How a caller reaches a server: within a machine and across a network. */
export const WAYS: readonly (readonly [way: string, address: () => string])[] = [
  ['over a unix socket', newAddress],
  ['over TCP', () => '127.0.0.1:0'],
];

type LogLine = Record<string, unknown>;
export type TrialHandlers = Partial<Handlers<typeof trial>>;

/** Serves the trial service and collects the lines of its log. Missing handlers echo. */
export async function serveTrial(handlers: TrialHandlers, options: Omit<ServeOptions, 'services' | 'log'>) {
  const lines: LogLine[] = [];
  const services = [implement(trial, callers, { ...echoHandlers, ...handlers })];
  return { lines, server: await serve({ ...options, services, log: logInto(lines) }) };
}

/** A server of the trial service with a client; `close` ends both. Missing handlers echo. */
export async function openTrial(
  handlers: TrialHandlers = {},
  options: { address?: string; deadlineMs?: number; ready?: () => Promise<void> } = {},
) {
  // Long enough to be reached only on purpose.
  const { address = newAddress(), deadlineMs = 60_000, ready } = options;
  const { server, lines } = await serveTrial(handlers, { address, ready });
  const client = dial(trial, server.address, { name: 'The trial', deadlineMs });
  return {
    server,
    client,
    lines,
    async close() {
      client.close();
      await server.stop(100);
    },
  };
}

export function newAddress(): string {
  return `unix:${join(mkdtempSync(join(tmpdir(), 'rpc-')), 'trial.sock')}`;
}

export function logInto(lines: LogLine[]): Logger {
  return createLog({
    name: 'trial',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) },
  });
}
