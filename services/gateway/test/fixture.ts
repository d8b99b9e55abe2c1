import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '@call-analysis/fault';
import { type Objects, openObjects, type SignedUrls } from '@call-analysis/objects';
import { analysis, audio, ingest, keyManagement } from '@call-analysis/proto';
import { dial, type Handlers, implement, serve } from '@call-analysis/rpc';
import { Closing, createLog, Readiness, timeLeft } from '@call-analysis/runtime';
import jwt from 'jsonwebtoken';
import { ApiKeyAuthentication } from '../authentication/api-key.ts';
import type { Role } from '../authentication/caller.ts';
import { backendParts, serveEdge } from '../gateway.ts';
import type { Edge } from '../variables.ts';

export const firm = { uuid: '1a2b3c4d-0000-4000-8000-000000000001', name: 'Firm' };
export const user = '1a2b3c4d-0000-4000-8000-00000000000a';
export const secret = 'a secret of thirty-two bytes or more';
export const apiKey = '1a2b3c4$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';

type Keys = Handlers<typeof keyManagement>;
type Ingest = Handlers<typeof ingest>;
type Audio = Handlers<typeof audio>;
type Analysis = Handlers<typeof analysis>;

export interface Fixture {
  readonly url: string;
  /** Of the services behind the edge. */
  readonly addresses: Readonly<Record<'keyManagement' | 'ingest' | 'audio' | 'analysis', string>>;
  readonly objects: Objects & SignedUrls;
  readonly apiKeys: ApiKeyAuthentication;
  /** What the services behind the gateway answer; replaced by tests. */
  readonly keys: Partial<Keys>;
  readonly calls: Partial<Ingest>;
  readonly recordings: Partial<Audio>;
  readonly scorecards: Partial<Analysis>;
  readonly log: Record<string, unknown>[];
  /** Sends a request with a good bearer token of the role, ADMIN unless it is said otherwise. */
  request(method: string, path: string, options?: RequestOptions): Promise<ReceivedResponse>;
  /** Stops a service behind the edge, as if its machine were gone. */
  cutKeyManagement(): Promise<void>;
  cutAudio(): Promise<void>;
  /** Draining says that the edge will stop, while it serves on. */
  readonly readiness: Readiness;
  /** Closes the edge alone. */
  closeEdge(): Promise<void>;
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
 * The edge over real HTTP, with services that speak real gRPC and answer as the test says. They get so much time for it
 * that none misses its deadline but one that never answers; a test of those sets `deadlineMs`.
 */
export async function openFixture(
  edge: Partial<Edge> & { keyTtlMs?: number; deadlineMs?: number; closeMs?: number } = {},
): Promise<Fixture> {
  const { keyTtlMs, deadlineMs = 60_000, closeMs, ...rest } = edge;
  const closing = new Closing();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    name: 'gateway',
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const quiet = createLog({ name: 'behind', level: 'silent' });
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  closing.add('directory', () => rm(directory, { recursive: true }));
  const keys: Partial<Keys> = {
    findUser: async ({ user_uuid }) =>
      user_uuid === user
        ? { user: { uuid: user, firm_uuid: firm.uuid, name: 'User', role: 'ADMIN', web_api_only: false } }
        : {},
  };
  const calls: Partial<Ingest> = {};
  const keyServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(keyManagement, replaceable<Keys>(keys, keyManagement))],
    log: quiet,
  });
  closing.add('key-management', () => keyServer.stop(0));
  const ingestServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(ingest, replaceable<Ingest>(calls, ingest))],
    log: quiet,
  });
  closing.add('ingest', () => ingestServer.stop(0));
  const recordings: Partial<Audio> = {};
  const audioServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(audio, replaceable<Audio>(recordings, audio))],
    log: quiet,
  });
  closing.add('audio', () => audioServer.stop(0));
  const scorecards: Partial<Analysis> = {};
  const analysisServer = await serve({
    address: '127.0.0.1:0',
    services: [implement(analysis, replaceable<Analysis>(scorecards, analysis))],
    log: quiet,
  });
  closing.add('analysis', () => analysisServer.stop(0));
  const keyChannel = dial(keyManagement, keyServer.address, { name: 'key-management', deadlineMs: 60_000 });
  closing.add('channel', () => keyChannel.close());
  const ingestChannel = dial(ingest, ingestServer.address, { name: 'ingest', deadlineMs });
  closing.add('channel', () => ingestChannel.close());
  const audioChannel = dial(audio, audioServer.address, { name: 'audio', deadlineMs });
  closing.add('channel', () => audioChannel.close());
  const analysisChannel = dial(analysis, analysisServer.address, { name: 'analysis', deadlineMs });
  closing.add('channel', () => analysisChannel.close());
  const objects = await openObjects({ store: 'disk', directory, secret });
  const apiKeys = new ApiKeyAuthentication({ keys: keyChannel, ...(keyTtlMs !== undefined && { ttlMs: keyTtlMs }) });
  const config: Edge = {
    host: '127.0.0.1',
    port: 0,
    jwt: { issuer: 'call-analysis', audience: 'call-analysis', key: { kind: 'secret', secret } },
    ...rest,
  };
  const behind = {
    keyManagement: keyChannel,
    ingest: ingestChannel,
    audio: audioChannel,
    analysis: analysisChannel,
    objects,
    apiKeys,
  };
  const readiness = new Readiness(backendParts(behind));
  const running = await serveEdge(config, behind, log, readiness, timeLeft(closeMs)).catch(async (error: unknown) => {
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
    },
    objects,
    apiKeys,
    keys,
    calls,
    recordings,
    scorecards,
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
    cutKeyManagement: () => keyServer.stop(0),
    cutAudio: () => audioServer.stop(0),
    readiness,
    closeEdge: () => running.close(),
    close: () => closing.close(),
  };
}

export function tokenFor(role: Role, claims: object = {}): string {
  const given = { sub: user, firm: firm.uuid, role, ...claims };
  return jwt.sign(given, secret, { issuer: 'call-analysis', audience: 'call-analysis', expiresIn: 3600 });
}

/** A key-management to which every key is the same good one of `firm`. */
export function everyKeyIs(keyUuid: string): Keys['verifyKeys'] {
  const verdict = { verdict: 'VALID', key_uuid: keyUuid, firm_uuid: firm.uuid, user_uuid: user };
  return async ({ api_keys }) => ({ verdicts: api_keys.map(() => verdict) });
}

/** What a socket says until it is closed, from either side. */
export async function rawExchange(url: string, speak: (socket: Socket) => void): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.once('connect', () => speak(socket));
  let heard = '';
  socket.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')));
  await once(socket, 'close');
  return heard;
}

/** Handlers that look up at each call what the test wants. */
function replaceable<Service>(handlers: Partial<Service>, definition: object): Service {
  const entries = Object.keys(definition).map((method) => {
    const name = `${method.slice(0, 1).toLowerCase()}${method.slice(1)}`;
    return [
      name,
      (...given: unknown[]) => {
        const handler = Reflect.get(handlers, name) as ((...given: unknown[]) => unknown) | undefined;
        if (handler === undefined) throw new Fault('internal', 'INTERNAL', `${name} was not expected`);
        return handler(...given);
      },
    ];
  });
  return Object.fromEntries(entries) as Service;
}
