import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { type ClientWritableStream, type ServiceError, status } from '@grpc/grpc-js';
import { END, writeWithEnd } from '../wire/end-of-requests.ts';
import type { CallOptions, Method } from '../wire/methods.ts';
import { serverInThisProcess } from '../wire/same-process.ts';
import { decodeFault } from '../wire/status.ts';
import type { RemoteService } from './remote-service.ts';
import { isIdempotent } from './service-config.ts';

/** A method as its caller sees it. */
export function remoteMethod(remote: RemoteService, method: Method) {
  if (method.requestStream) {
    return (requests: AsyncIterable<unknown>, options?: CallOptions) => upload(remote, method, requests, options);
  }
  if (method.responseStream) {
    return (request: unknown, options?: CallOptions) => download(remote, method, request, options);
  }
  return (request: unknown, options?: CallOptions) => ask(remote, method, request, options);
}

async function ask(
  remote: RemoteService,
  method: Method,
  request: unknown,
  options: CallOptions = {},
): Promise<unknown> {
  const near = serverInThisProcess(remote.address, method);
  if (near !== undefined) {
    const { metadata, deadline } = remote.begin(options);
    const reply = new ReplyReader(method);
    return replied(remote, options, reply, (done) =>
      near.begin(method, request, { metadata, deadline, read: reply.read, done }),
    );
  }
  const { metadata, deadline } = await remote.start(options);
  const attempt = (reply: ReplyReader) =>
    replied(remote, options, reply, (done) =>
      remote.connection.client
        .makeUnaryRequest(method.path, method.requestSerialize, reply.read, request, metadata, { deadline }, done)
        .once('metadata', () => (reply.hasBegun = true)),
    );
  for (;;) {
    const reply = new ReplyReader(method);
    try {
      return await attempt(reply);
    } catch (error) {
      if (isRefusedStream(error, reply) && Date.now() + REFUSED_PAUSE_MS < deadline) {
        await pause(REFUSED_PAUSE_MS);
        options.signal?.throwIfAborted();
        continue;
      }
      // grpc-js retries nothing once the header of the answer has arrived. When connections were reset under load, that
      // was the state of one lost call in eight.
      const isLost =
        reply.hasBegun && reply.fault === undefined && error instanceof Fault && error.kind === 'unavailable';
      if (!isLost || !isIdempotent(method)) throw error;
      return attempt(new ReplyReader(method));
    }
  }
}

const REFUSED_PAUSE_MS = 50;

/**
 * Whether a server that is closing refused the call before any handler saw it (HTTP/2's REFUSED_STREAM), so that any method may
 * be called again. grpc-js does that once; a busy process meets several closing connections while replicas are replaced.
 */
function isRefusedStream(error: unknown, { hasBegun }: ReplyReader): boolean {
  const cause = error instanceof Fault ? (error.cause as Partial<ServiceError> | undefined) : undefined;
  return !hasBegun && cause?.code === status.UNAVAILABLE && cause.details === 'Stream refused by server';
}

async function upload(
  remote: RemoteService,
  method: Method,
  requests: AsyncIterable<unknown>,
  options: CallOptions = {},
): Promise<unknown> {
  const { metadata, deadline } = await remote.start(options);
  const reply = new ReplyReader(method);
  const over = new AbortController();
  let sourceFailure: { error: unknown } | undefined;
  try {
    return await replied(remote, options, reply, (done) => {
      const call = remote.connection.client.makeClientStreamRequest(
        method.path,
        writeWithEnd(method),
        reply.read,
        metadata,
        { deadline },
        done,
      );
      void writeAll(requests, call, over.signal).catch((error: unknown) => {
        if (over.signal.aborted) return;
        sourceFailure = { error };
        call.cancel();
      });
      return call;
    });
  } catch (error) {
    throw sourceFailure === undefined ? error : sourceFailure.error;
  } finally {
    over.abort();
  }
}

/**
 * Until the server says that it has begun, another server may have to be sent the same requests. grpc-js keeps up to
 * 1 MiB of them for that, so less than that is sent before.
 */
const SENT_BEFORE_BEGUN_BYTES = 512 * 1024;

/** Writes as fast as the server reads, until the source ends or the call is over. */
async function writeAll(
  requests: AsyncIterable<unknown>,
  call: ClientWritableStream<unknown>,
  over: AbortSignal,
): Promise<void> {
  let hasBegun = false;
  call.once('metadata', () => (hasBegun = true));
  let bytes = 0;
  for await (const request of requests) {
    if (!hasBegun && bytes >= SENT_BEFORE_BEGUN_BYTES && !over.aborted) await once(call, 'metadata', { signal: over });
    if (over.aborted) return;
    bytes += sizeOf(request);
    if (!call.write(request)) await once(call, 'drain', { signal: over });
  }
  call.write(END);
  call.end();
}

/** An estimate: what is large in a request is bytes or text. */
function sizeOf(request: unknown): number {
  let bytes = 0;
  for (const value of Object.values(Object(request) as object)) {
    if (value instanceof Uint8Array || typeof value === 'string') bytes += value.length;
  }
  return bytes;
}

async function* download(
  remote: RemoteService,
  method: Method,
  request: unknown,
  options: CallOptions = {},
): AsyncGenerator<unknown> {
  const { metadata, deadline } = await remote.start(options);
  const reply = new ReplyReader(method);
  const call = remote.connection.client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    reply.read,
    request,
    metadata,
    { deadline },
  );
  const cancel = () => call.cancel();
  options.signal?.addEventListener('abort', cancel);
  try {
    for await (const message of call) {
      if (message !== FAULT_MESSAGE) yield message;
    }
    remote.succeeded();
  } catch (error) {
    options.signal?.throwIfAborted();
    throw reply.fault ?? remote.failed(error as ServiceError);
  } finally {
    options.signal?.removeEventListener('abort', cancel);
    call.cancel();
  }
}

const FAULT_MESSAGE = Symbol('a message that is a Fault');

/** Holds back the message that is a Fault; grpc-js only knows the status after it. */
class ReplyReader {
  /** Whether the header of the answer has arrived. */
  hasBegun = false;
  fault: Fault | undefined;
  readonly read: (bytes: Buffer) => unknown;

  constructor(method: Method) {
    this.read = (bytes) => {
      this.fault = decodeFault(bytes);
      return this.fault === undefined ? method.responseDeserialize(bytes) : FAULT_MESSAGE;
    };
  }
}

/** Rejects with the Fault that came, the reason of the signal, or the Fault for a call without an answer. */
function replied(
  remote: RemoteService,
  { signal }: CallOptions,
  reply: ReplyReader,
  start: (done: (error: ServiceError | null, value?: unknown) => void) => { cancel(): void },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = start((error, value) => {
      signal?.removeEventListener('abort', cancel);
      if (error === null) {
        remote.succeeded();
        resolve(value);
      } else if (signal?.aborted) reject(signal.reason);
      else reject(reply.fault ?? remote.failed(error));
    });
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel);
  });
}
