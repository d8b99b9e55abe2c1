import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '@call-analysis/fault';
import { type Objects, openObjects, type SignedUrls } from '@call-analysis/objects';
import { analysis, audio, desk, ingest, keyManagement, webhooks } from '@call-analysis/proto';
import { dial, type Handlers, implement, serve } from '@call-analysis/rpc';
import { Closing, createLog, Readiness, timeLeft } from '@call-analysis/runtime';
import jwt from 'jsonwebtoken';
import { ApiKeyAuthentication } from '../authentication/api-key.ts';
import type { Role } from '../authentication/caller.ts';
import { backendParts, serveHttp } from '../gateway.ts';
import type { HttpConfig } from '../variables.ts';

export const firm = { uuid: '1a2b3c4d-0000-4000-8000-000000000001', name: 'Firm' };
export const user = '1a2b3c4d-0000-4000-8000-00000000000a';
export const secret = 'a secret of thirty-two bytes or more';
export const apiKey = '1a2b3c4$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';

type Keys = Handlers<typeof keyManagement>;
type Ingest = Handlers<typeof ingest>;
type Desk = Handlers<typeof desk>;
type Audio = Handlers<typeof audio>;
type Analysis = Handlers<typeof analysis>;
type Webhooks = Handlers<typeof webhooks>;

export interface Fixture {
  readonly url: string;
  /** The RPC addresses of the backends. */
  readonly addresses: Readonly<Record<'keyManagement' | 'ingest' | 'audio' | 'analysis' | 'webhooks', string>>;
  readonly objects: Objects & SignedUrls;
  readonly apiKeys: ApiKeyAuthentication;
  /** The RPC handlers of the backends. Tests set the ones that they need. */
  readonly keys: Partial<Keys>;
  readonly calls: Partial<Ingest>;
  readonly desk: Partial<Desk>;
  readonly recordings: Partial<Audio>;
  readonly scorecards: Partial<Analysis>;
  readonly webhooks: Partial<Webhooks>;
  readonly log: Record<string, unknown>[];
  /** Sends a request with a valid bearer token of the role, ADMIN by default. */
  request(method: string, path: string, options?: RequestOptions): Promise<ReceivedResponse>;
  /** Stops a backend, as if its machine were gone. */
  stopKeyManagement(): Promise<void>;
  stopAudio(): Promise<void>;
  /** For tests that drain the gateway while it still serves. */
  readonly readiness: Readiness;
  /** Closes the gateway, but not its backends. */
  closeHttp(): Promise<void>;
  close(): Promise<void>;
}

export interface RequestOptions {
  role?: Role;
  headers?: Record<string, string>;
  json?: unknown;
  body?: string | Uint8Array<ArrayBuffer>;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/**
 * The gateway over real HTTP, with backends over real gRPC whose handlers the test provides. The deadline is so long that
 * only a handler that never returns misses it. A test of that sets a shorter `deadlineMs`.
 */
export async function openFixture(
  edge: Partial<Parameters<typeof serveHttp>[0]> & { keyTtlMs?: number; deadlineMs?: number; closeMs?: number } = {},
): Promise<Fixture> {
  const { keyTtlMs, deadlineMs = 60_000, closeMs, ...rest } = edge;
  const closing = new Closing();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    name: 'gateway',
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const quiet = createLog({ name: 'backends', level: 'silent' });
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  closing.add('directory', () => rm(directory, { recursive: true }));
  const keys: Partial<Keys> = {
    // Refused requests are recorded a while after their response, perhaps during another test.
    recordRefusals: async () => ({}),
    findUser: async ({ user_uuid }) =>
      user_uuid === user
        ? {
            user: {
              uuid: user,
              firm_uuid: firm.uuid,
              name: 'User',
              role: 'ADMIN',
              web_api_only: false,
              operator_ids: [],
              created_at: '2026-10-01T04:00:00.000Z',
            },
          }
        : {},
  };
  const calls: Partial<Ingest> = {};
  const team: Partial<Desk> = {};
  const keyServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(keyManagement, {}, replaceable<Keys>(keys, keyManagement))],
    log: quiet,
  });
  closing.add('key-management', () => keyServer.stop(0));
  const ingestServer = await serve({
    address: '127.0.0.1:0',
    services: [
      implement(ingest, {}, replaceable<Ingest>(calls, ingest)),
      implement(desk, {}, replaceable<Desk>(team, desk)),
    ],
    log: quiet,
  });
  closing.add('ingest', () => ingestServer.stop(0));
  const recordings: Partial<Audio> = {};
  const audioServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(audio, {}, replaceable<Audio>(recordings, audio))],
    log: quiet,
  });
  closing.add('audio', () => audioServer.stop(0));
  const scorecards: Partial<Analysis> = {};
  const analysisServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(analysis, {}, replaceable<Analysis>(scorecards, analysis))],
    log: quiet,
  });
  closing.add('analysis', () => analysisServer.stop(0));
  const hooks: Partial<Webhooks> = {};
  const webhookServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(webhooks, {}, replaceable<Webhooks>(hooks, webhooks))],
    log: quiet,
  });
  closing.add('webhooks', () => webhookServer.stop(0));
  const keyChannel = dial(keyManagement, keyServer.address, { name: 'key-management', deadlineMs: 60_000 });
  closing.add('channel', () => keyChannel.close());
  const ingestChannel = dial(ingest, ingestServer.address, { name: 'ingest', deadlineMs });
  closing.add('channel', () => ingestChannel.close());
  const deskChannel = dial(desk, ingestServer.address, { name: 'ingest', deadlineMs });
  closing.add('channel', () => deskChannel.close());
  const audioChannel = dial(audio, audioServer.address, { name: 'audio', deadlineMs });
  closing.add('channel', () => audioChannel.close());
  const analysisChannel = dial(analysis, analysisServer.address, { name: 'analysis', deadlineMs });
  closing.add('channel', () => analysisChannel.close());
  const webhookChannel = dial(webhooks, webhookServer.address, { name: 'webhooks', deadlineMs });
  closing.add('channel', () => webhookChannel.close());
  const objects = await openObjects({ store: 'disk', directory, secret });
  const apiKeys = new ApiKeyAuthentication({ keys: keyChannel, ...(keyTtlMs !== undefined && { ttlMs: keyTtlMs }) });
  const config: HttpConfig = {
    host: '127.0.0.1',
    port: 0,
    jwt: { issuer: 'call-analysis', audience: 'call-analysis', key: { kind: 'secret', secret } },
    ...rest,
  };
  const backends = {
    keyManagement: keyChannel,
    ingest: ingestChannel,
    desk: deskChannel,
    audio: audioChannel,
    analysis: analysisChannel,
    webhooks: webhookChannel,
    objects,
    apiKeys,
  };
  const readiness = new Readiness(backendParts(backends));
  const running = await serveHttp(config, backends, log, readiness, timeLeft(closeMs)).catch(async (error: unknown) => {
    await closing.close();
    throw error;
  });
  closing.add('edge', () => running.close());

  return {
    url: running.url,
    addresses: {
      keyManagement: keyServer.address,
      ingest: ingestServer.address,
      audio: audioServer.address,
      analysis: analysisServer.address,
      webhooks: webhookServer.address,
    },
    objects,
    apiKeys,
    keys,
    calls,
    desk: team,
    recordings,
    scorecards,
    webhooks: hooks,
    log: lines,
    async request(method, path, { role = 'ADMIN', headers = {}, json, body } = {}) {
      const response = await fetch(running.url + path, {
        method,
        headers: {
          authorization: `Bearer ${tokenFor(role)}`,
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(body !== undefined && { body }),
      });
      const content = await response.text();
      const isJson = response.headers.get('content-type') === 'application/json' && content !== '';
      return {
        status: response.status,
        headers: response.headers,
        text: content,
        body: isJson ? (JSON.parse(content) as Record<string, unknown>) : {},
      };
    },
    stopKeyManagement: () => keyServer.stop(0),
    stopAudio: () => audioServer.stop(0),
    readiness,
    closeHttp: () => running.close(),
    close: () => closing.close(),
  };
}

export function tokenFor(role: Role, claims: object = {}): string {
  const payload = { sub: user, firm: firm.uuid, role, ...claims };
  return jwt.sign(payload, secret, { issuer: 'call-analysis', audience: 'call-analysis', expiresIn: 3600 });
}

/** A handler for which every key is the same valid key of `firm`. */
export function everyKeyIs(keyUuid: string): Keys['verifyKeys'] {
  const verdict = { verdict: 'VALID', key_uuid: keyUuid, firm_uuid: firm.uuid, user_uuid: user };
  return async ({ api_keys }) => ({ verdicts: api_keys.map(() => verdict) });
}

/** Connects a socket, and returns the text that it receives until either side closes it. */
export async function rawExchange(url: string, onConnect: (socket: Socket) => void): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.once('connect', () => onConnect(socket));
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  await once(socket, 'close');
  return received;
}

/** What is read is sent as the API's own JSON, so a test replies with what the API answers. */
function withJson(reply: object): object {
  return 'json' in reply ? reply : { ...reply, json: Buffer.from(JSON.stringify(reply)) };
}

/** Handlers that call the ones that the test has set. */
function replaceable<Service>(handlers: Partial<Service>, definition: object): Service {
  const entries = Object.keys(definition).map((method) => {
    const name = `${method.slice(0, 1).toLowerCase()}${method.slice(1)}`;
    return [
      name,
      (...args: unknown[]) => {
        const handler = Reflect.get(handlers, name) as ((...args: unknown[]) => unknown) | undefined;
        if (handler === undefined) throw new Fault('internal', 'INTERNAL', `the test has no handler ${name}`);
        const reply = handler(...args);
        return reply instanceof Promise ? reply.then(withJson) : reply;
      },
    ];
  });
  return Object.fromEntries(entries) as Service;
}
