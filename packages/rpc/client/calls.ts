import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault, unavailable } from '@call-analysis/fault';
import { type ClientWritableStream, type ServiceError, status, type ServiceDefinition } from '@grpc/grpc-js';
import {
  END,
  writeWithEnd,
  type CallOptions,
  type Method,
  HEALTH_METHODS,
  type Client,
  methodsOf,
} from '../wire/methods.ts';
import { decodeFault } from '../wire/status.ts';
import { isIdempotent } from './connection.ts';
import { RemoteService, type DialOptions } from './remote-service.ts';

/** A method as its caller sees it. */
function remoteMethod(remote: RemoteService, method: Method) {
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
      if (await mayBeMadeAgain(error, reply, deadline, options.signal)) continue;
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
 * be called again, after a pause. grpc-js does that once; a busy process meets several closing connections while replicas are
 * replaced. Rejects with the reason of the signal.
 */
async function mayBeMadeAgain(
  error: unknown,
  { hasBegun }: ReplyReader,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const cause = error instanceof Fault ? (error.cause as Partial<ServiceError> | undefined) : undefined;
  const isRefused = cause?.code === status.UNAVAILABLE && cause.details === 'Stream refused by server';
  if (hasBegun || !isRefused || Date.now() + REFUSED_PAUSE_MS >= deadline) return false;
  await pause(REFUSED_PAUSE_MS);
  signal?.throwIfAborted();
  return true;
}

async function upload(
  remote: RemoteService,
  method: Method,
  requests: AsyncIterable<unknown>,
  options: CallOptions = {},
): Promise<unknown> {
  const { metadata, deadline } = await remote.start(options);
  const over = new AbortController();
  const sender = new Sender(over.signal);
  void sender.send(requests);
  try {
    for (;;) {
      const reply = new ReplyReader(method);
      const replying = replied(remote, options, reply, (done) => {
        const call = remote.connection.client.makeClientStreamRequest(
          method.path,
          writeWithEnd(method),
          reply.read,
          metadata,
          { deadline },
          done,
        );
        call.once('metadata', () => (reply.hasBegun = true));
        sender.use(call);
        return call;
      });
      try {
        return await replying;
      } catch (error) {
        const again = sender.failure === undefined && (await mayBeMadeAgain(error, reply, deadline, options.signal));
        // The source may also fail in the pause between two attempts.
        if (sender.failure !== undefined) throw sender.failure.error;
        if (!again) throw error;
      }
    }
  } finally {
    over.abort();
  }
}

/**
 * Until the server says that it has begun, another server may have to be sent the same requests. grpc-js keeps up to
 * 1 MiB of them for that, so less than that is sent before.
 */
const SENT_BEFORE_BEGUN_BYTES = 512 * 1024;

/** Sends the requests of an upload. It keeps those that it has sent until a server has begun the call. */
class Sender {
  /** The error of the source, which ended the call. */
  failure: { readonly error: unknown } | undefined;
  readonly #over: AbortSignal;
  readonly #begun = Promise.withResolvers<void>();
  #hasBegun = false;
  #kept: unknown[] = [];
  #call: ClientWritableStream<unknown> | undefined;

  constructor(over: AbortSignal) {
    this.#over = over;
    over.addEventListener('abort', () => this.#begun.resolve());
  }

  /** Sends to this call, first what was sent to the calls before it. */
  use(call: ClientWritableStream<unknown>): void {
    this.#call = call;
    call.once('metadata', () => {
      this.#hasBegun = true;
      this.#kept = [];
      this.#begun.resolve();
    });
    for (const request of this.#kept) write(call, request);
  }

  /** Sends as fast as the server reads, until the source ends or the upload is over. */
  async send(requests: AsyncIterable<unknown>): Promise<void> {
    try {
      let bytes = 0;
      for await (const request of requests) {
        if (bytes >= SENT_BEFORE_BEGUN_BYTES) await this.#begun.promise;
        if (this.#over.aborted) return;
        bytes += sizeOf(request);
        await this.#write(request);
      }
      await this.#write(END);
    } catch (error) {
      if (this.#over.aborted) return;
      this.failure = { error };
      this.#call?.cancel();
    }
  }

  async #write(request: unknown): Promise<void> {
    if (!this.#hasBegun) this.#kept.push(request);
    const call = this.#call;
    // A call that no server has begun may be replaced and then never drain.
    if (call !== undefined && !write(call, request) && this.#hasBegun)
      await once(call, 'drain', { signal: this.#over });
  }
}

/** False when the buffer is full and the next request should wait for 'drain'. */
function write(call: ClientWritableStream<unknown>, request: unknown): boolean {
  const hasRoom = call.write(request);
  if (request === END) call.end();
  return hasRoom || request === END;
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
  for (;;) {
    const reply = new ReplyReader(method);
    const call = remote.connection.client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      reply.read,
      request,
      metadata,
      { deadline },
    );
    call.once('metadata', () => (reply.hasBegun = true));
    const cancel = () => call.cancel();
    options.signal?.addEventListener('abort', cancel);
    try {
      for await (const message of call) {
        if (message !== FAULT_MESSAGE) yield message;
      }
      remote.succeeded();
      return;
    } catch (error) {
      options.signal?.throwIfAborted();
      const fault = reply.fault ?? remote.failed(error as ServiceError);
      if (!(await mayBeMadeAgain(fault, reply, deadline, options.signal))) throw fault;
    } finally {
      options.signal?.removeEventListener('abort', cancel);
      call.cancel();
    }
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

export interface Channel {
  /** Resolves when the service reports SERVING, else rejects with Fault UNAVAILABLE. */
  ready(options?: CallOptions): Promise<void>;
  /** Calls in progress fail. No call may be made afterwards. */
  close(): void;
}

/**
 * The methods of a service at `host:port` or `unix:/path`. Connects with the first call, and again whenever needed, to
 * each address that the host's name has. Calls go to these addresses in turn.
 *
 * Every call has a deadline, and no call that a handler makes outlives the call that it handles. A call rejects with the
 * Fault that the handler threw, or with UNAVAILABLE when there was no answer in time. Aborting its signal rejects it
 * with the signal's reason. A stream is requested when its iteration begins and cancelled when it is left early.
 *
 * A call that finds no connection waits up to 1.5 s for one. A call that no server has begun is sent again, to another
 * server if there is one; a call that got lost only where its method allows it: see serviceConfig.
 */
export function dial<Service extends ServiceDefinition>(
  service: Service,
  address: string,
  options: DialOptions,
): Client<Service> & Channel {
  const methods = methodsOf(service);
  const remote = new RemoteService(address, options, [...methods.map(([, method]) => method), HEALTH_METHODS.Check]);
  const check = remoteMethod(remote, HEALTH_METHODS.Check) as (
    request: unknown,
    options?: CallOptions,
  ) => Promise<unknown>;
  const channel: Channel = {
    async ready(callOptions) {
      const { status } = (await check({ service: '' }, callOptions)) as { status: string };
      if (status !== 'SERVING') throw unavailable(options.name);
    },
    close: () => remote.connection.close(),
  };
  const calls = Object.fromEntries(methods.map(([name, method]) => [name, remoteMethod(remote, method)]));
  return Object.assign(calls as Client<Service>, channel);
}
