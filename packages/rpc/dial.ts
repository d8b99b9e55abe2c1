import { once } from 'node:events';
import { type Fault, unavailable } from '@call-analysis/fault';
import {
  type ChannelOptions,
  credentials,
  Client as GrpcClient,
  type ServiceDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { CONNECTION_OPTIONS } from './connection.ts';
import { outgoingContext } from './context.ts';
import { END, writeWithEnd } from './end-mark.ts';
import { health } from './health.ts';
import { type CallOptions, type Client, type Method, methodsOf } from './methods.ts';
import { neighbourAt } from './neighbour.ts';
import { decodeFault, faultOfStatus } from './status.ts';
import type { RequestWriter, Transport } from './transport.ts';

export interface DialOptions {
  /** Who is called, as it stands in the message when it does not answer: `${name} does not answer.` */
  readonly name: string;
  /** How long a call may take, unless it says otherwise. Default 10,000. */
  readonly deadlineMs?: number;
}

export interface Channel {
  /** Resolves when the other side says that it is SERVING, else rejects with Fault UNAVAILABLE. */
  ready(options?: CallOptions): Promise<void>;
  /** Calls in flight fail; a later call is a mistake. */
  close(): void;
}

const OPTIONS: ChannelOptions = {
  ...CONNECTION_OPTIONS,
  // A service that was restarted is found again within a second.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.dns_min_time_between_resolutions_ms': 1000,
  // A proxy from the environment is meant for the outside world.
  'grpc.enable_http_proxy': 0,
};

/**
 * The methods of a service at `host:port` or `unix:/path`. Connects with the first call and again whenever needed; a
 * server of this process, under the address that it gave, is called without a connection.
 * Every call has a deadline. A call rejects with the Fault that the handler threw, or with UNAVAILABLE when there was
 * no answer in time; aborting its signal rejects it with the signal's reason. A stream is requested when its iteration
 * begins and cancelled when it is left early.
 */
export function dial<Service extends ServiceDefinition>(
  service: Service,
  address: string,
  options: DialOptions,
): Client<Service> & Channel {
  const grpc = new GrpcClient(address, credentials.createInsecure(), OPTIONS);
  const line: Line = {
    transport: () => neighbourAt(address) ?? grpc,
    name: options.name,
    deadlineMs: options.deadlineMs ?? 10_000,
  };
  const methods = Object.fromEntries(methodsOf(service).map(([name, method]) => [name, remote(line, method)]));
  const check = remote(line, health.Check) as (request: unknown, options?: CallOptions) => Promise<unknown>;
  const channel: Channel = {
    async ready(callOptions) {
      const { status } = (await check({ service: '' }, callOptions)) as { status: string };
      if (status !== 'SERVING') throw unavailable(options.name);
    },
    close: () => grpc.close(),
  };
  return Object.assign(methods as Client<Service>, channel);
}

interface Line {
  /** Asked for each call: a server may begin and end in this process. */
  readonly transport: () => Transport;
  readonly name: string;
  readonly deadlineMs: number;
}

function remote(line: Line, method: Method) {
  if (method.requestStream) {
    return (requests: AsyncIterable<unknown>, options?: CallOptions) => upload(line, method, requests, options);
  }
  if (method.responseStream) {
    return (request: unknown, options?: CallOptions) => download(line, method, request, options);
  }
  return (request: unknown, options?: CallOptions) => ask(line, method, request, options);
}

function ask(line: Line, method: Method, request: unknown, options: CallOptions = {}): Promise<unknown> {
  const reply = new ReplyReader(method);
  return answered(line, options, reply, (done) =>
    line.transport().makeUnaryRequest(
      method.path,
      method.requestSerialize,
      reply.read,
      request,
      outgoingContext(),
      timing(line, options),
      done,
    ),
  );
}

function upload(
  line: Line,
  method: Method,
  requests: AsyncIterable<unknown>,
  options: CallOptions = {},
): Promise<unknown> {
  const reply = new ReplyReader(method);
  const over = new AbortController();
  let sourceFailure: { error: unknown } | undefined;
  return answered(line, options, reply, (done) => {
    const call = line.transport().makeClientStreamRequest(
      method.path,
      writeWithEnd(method),
      reply.read,
      outgoingContext(),
      timing(line, options),
      (error, value) => {
        over.abort();
        done(error, value);
      },
    );
    void pour(requests, call, over.signal).catch((error: unknown) => {
      if (over.signal.aborted) return;
      sourceFailure = { error };
      call.cancel();
    });
    return call;
  }).catch((error: unknown) => {
    throw sourceFailure === undefined ? error : sourceFailure.error;
  });
}

/** Writes as fast as the other side reads, until the source ends or the call is over. */
async function pour(
  requests: AsyncIterable<unknown>,
  call: RequestWriter,
  over: AbortSignal,
): Promise<void> {
  for await (const request of requests) {
    if (over.aborted) return;
    if (!call.write(request)) await once(call, 'drain', { signal: over });
  }
  call.write(END);
  call.end();
}

async function* download(
  line: Line,
  method: Method,
  request: unknown,
  options: CallOptions = {},
): AsyncGenerator<unknown> {
  options.signal?.throwIfAborted();
  const reply = new ReplyReader(method);
  const call = line.transport().makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    reply.read,
    request,
    outgoingContext(),
    timing(line, options),
  );
  const cancel = () => call.cancel();
  options.signal?.addEventListener('abort', cancel);
  try {
    for await (const message of call) {
      if (message !== NO_MESSAGE) yield message;
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    throw reply.fault ?? faultOfStatus(line.name, error as ServiceError);
  } finally {
    options.signal?.removeEventListener('abort', cancel);
    call.cancel();
  }
}

const NO_MESSAGE = Symbol('stands where a Fault came');

/** Keeps back the message that is a Fault; grpc-js knows nothing of it and hands over the status alone. */
class ReplyReader {
  fault: Fault | undefined;
  readonly read: (bytes: Buffer) => unknown;

  constructor(method: Method) {
    this.read = (bytes) => {
      this.fault = decodeFault(bytes);
      return this.fault === undefined ? method.responseDeserialize(bytes) : NO_MESSAGE;
    };
  }
}

function answered(
  line: Line,
  options: CallOptions,
  reply: ReplyReader,
  start: (done: (error: ServiceError | null, value?: unknown) => void) => { cancel(): void },
): Promise<unknown> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const call = start((error, value) => {
      signal?.removeEventListener('abort', cancel);
      if (error === null) resolve(value);
      else if (signal?.aborted) reject(signal.reason);
      else reject(reply.fault ?? faultOfStatus(line.name, error));
    });
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel);
  });
}

function timing(line: Line, options: CallOptions): { deadline: number } {
  return { deadline: Date.now() + (options.deadlineMs ?? line.deadlineMs) };
}
