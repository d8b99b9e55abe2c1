import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type Fault, unavailable } from '@call-analysis/fault';
import type { Logger } from '@call-analysis/runtime';
import type { ServiceDefinition, ServiceError } from '@grpc/grpc-js';
import { LONGEST_CALL_MS } from './connection.ts';
import { outgoingContext } from './context.ts';
import { END, writeWithEnd } from './end-mark.ts';
import { health } from './health.ts';
import { inheritedDeadline } from './incoming.ts';
import { Line } from './line.ts';
import { type CallOptions, type Client, type Method, methodsOf } from './methods.ts';
import { NoAnswer, Repeats } from './repeats.ts';
import { Requests } from './requests.ts';
import { decodeFault, faultOfStatus } from './status.ts';
import { type Tls, tlsReason } from './tls.ts';
import type { RequestWriter } from './transport.ts';

export interface DialOptions {
  /** Who is called, as it stands in the message when it does not answer: `${name} does not answer.` */
  readonly name: string;
  /** How long a call may take, all its tries together, unless it says otherwise; at most LONGEST_CALL_MS. Default 10,000. */
  readonly deadlineMs?: number | undefined;
  /** Absent: in plain text. */
  readonly tls?: Tls | undefined;
  /** Gets a line when certificates are in the way; one, until a call comes through or it is for another reason. */
  readonly log?: Logger | undefined;
}

export interface Channel {
  /** Resolves when the other side says that it is SERVING, else rejects with Fault UNAVAILABLE. */
  ready(options?: CallOptions): Promise<void>;
  /** Calls in flight fail; a later call is a mistake. */
  close(): void;
}

/**
 * The methods of a service at `host:port` or `unix:/path`. Connects with the first call and again whenever needed, to
 * each address that the host's name has, and goes round them; a server of this process, under the loopback address or
 * socket that it gave, is called without a connection.
 *
 * Every call has a deadline, and none that a handler makes outlives the call it handles. A call rejects with the Fault
 * that the handler threw, or with UNAVAILABLE when there was no answer in time; aborting its signal rejects it with the
 * signal's reason. A stream is requested when its iteration begins and cancelled when it is left early.
 *
 * What a server has not begun is tried again elsewhere, what got lost on the way only where the method's
 * `idempotency_level` allows it and nothing has been read of the answer: see Repeats.
 */
export function dial<Service extends ServiceDefinition>(
  service: Service,
  address: string,
  options: DialOptions,
): Client<Service> & Channel {
  const line = new Line(address, options.tls);
  const peer = new Peer(line, options);
  const methods = Object.fromEntries(methodsOf(service).map(([name, method]) => [name, remote(peer, method)]));
  const check = remote(peer, health.Check) as (request: unknown, options?: CallOptions) => Promise<unknown>;
  const channel: Channel = {
    async ready(callOptions) {
      const { status } = (await check({ service: '' }, callOptions)) as { status: string };
      if (status !== 'SERVING') throw unavailable(options.name);
    },
    close: () => line.close(),
  };
  return Object.assign(methods as Client<Service>, channel);
}

/** Who is called, and what is known of how that went lately. */
class Peer {
  readonly line: Line;
  readonly repeats = new Repeats();
  readonly #name: string;
  readonly #deadlineMs: number;
  readonly #isSecure: boolean;
  readonly #log: Logger | undefined;
  #reason: string | undefined;

  constructor(line: Line, { name, deadlineMs = 10_000, tls, log }: DialOptions) {
    this.line = line;
    this.#name = name;
    this.#deadlineMs = deadlineMs;
    this.#isSecure = tls !== undefined;
    this.#log = log;
  }

  /** When a call ends whatever happens, in milliseconds since 1970. */
  deadline(options: CallOptions): number {
    return Math.min(
      Date.now() + Math.min(options.deadlineMs ?? this.#deadlineMs, LONGEST_CALL_MS),
      inheritedDeadline(),
    );
  }

  answered(): void {
    this.repeats.answered();
    this.#reason = undefined;
  }

  /** Takes down why a try failed; what certificates have to do with it is told once. */
  failed({ error }: NoAnswer): void {
    // Addresses that were looked up anew are not connected for the reason that was known before.
    if (error.details.includes('Last error: null')) return;
    const reason = tlsReason(error.details, this.#isSecure);
    if (reason !== undefined && reason !== this.#reason) {
      this.#log?.error({ part: this.#name, err: error }, faultOfStatus(this.#name, error, reason).message);
    }
    this.#reason = reason;
  }

  fault({ error }: NoAnswer): Fault {
    return faultOfStatus(this.#name, error, this.#reason);
  }
}

function remote(peer: Peer, method: Method) {
  if (method.requestStream) {
    return (requests: AsyncIterable<unknown>, options?: CallOptions) => upload(peer, method, requests, options);
  }
  if (method.responseStream) {
    return (request: unknown, options?: CallOptions) => download(peer, method, request, options);
  }
  return (request: unknown, options?: CallOptions) => ask(peer, method, request, options);
}

function ask(peer: Peer, method: Method, request: unknown, options: CallOptions = {}): Promise<unknown> {
  return tried(peer, method, options, (deadline) => {
    const reply = new ReplyReader(method);
    return answered(options, reply, (done) =>
      peer.line
        .transport()
        .makeUnaryRequest(
          method.path,
          method.requestSerialize,
          reply.read,
          request,
          outgoingContext(),
          { deadline },
          done,
        ),
    );
  });
}

async function upload(
  peer: Peer,
  method: Method,
  source: AsyncIterable<unknown>,
  options: CallOptions = {},
): Promise<unknown> {
  const requests = new Requests(source);
  let sourceFailure: { error: unknown } | undefined;
  const send = (deadline: number) => {
    const reply = new ReplyReader(method);
    const over = new AbortController();
    return answered(options, reply, (done) => {
      const call = peer.line
        .transport()
        .makeClientStreamRequest(
          method.path,
          writeWithEnd(method),
          reply.read,
          outgoingContext(),
          { deadline },
          (error, value) => {
            over.abort();
            done(error, value);
          },
        );
      call.once('metadata', () => requests.begin());
      void pour(requests, call, over.signal).catch((error: unknown) => {
        if (over.signal.aborted) return;
        sourceFailure = { error };
        call.cancel();
      });
      return call;
    });
  };
  try {
    return await tried(peer, method, options, send, () => requests.isWhole && sourceFailure === undefined);
  } catch (error) {
    throw sourceFailure === undefined ? error : sourceFailure.error;
  } finally {
    requests.close();
  }
}

/** Writes as fast as the other side reads, until the source ends or the call is over. */
async function pour(requests: Requests, call: RequestWriter, over: AbortSignal): Promise<void> {
  for (let index = 0; ; index += 1) {
    const next = await requests.at(index, over);
    if (over.aborted) return;
    if (next === undefined) break;
    if (!call.write(next.request)) await once(call, 'drain', { signal: over });
  }
  call.write(END);
  call.end();
}

async function* download(
  peer: Peer,
  method: Method,
  request: unknown,
  options: CallOptions = {},
): AsyncGenerator<unknown> {
  options.signal?.throwIfAborted();
  const deadline = peer.deadline(options);
  let hasBegun = false;
  for (let tries = 1; ; tries += 1) {
    const reply = new ReplyReader(method);
    const call = peer.line
      .transport()
      .makeServerStreamRequest(method.path, method.requestSerialize, reply.read, request, outgoingContext(), {
        deadline,
      });
    const cancel = () => call.cancel();
    options.signal?.addEventListener('abort', cancel);
    let failure: NoAnswer;
    try {
      for await (const message of call) {
        if (message === NO_MESSAGE) continue;
        hasBegun = true;
        yield message;
      }
      peer.answered();
      return;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (reply.fault !== undefined) throw reply.fault;
      failure = new NoAnswer(error as ServiceError);
    } finally {
      options.signal?.removeEventListener('abort', cancel);
      call.cancel();
    }
    await beforeNextTry(peer, method, { failure, tries, deadline, mayRepeat: !hasBegun }, options);
  }
}

/** Makes a call, and again while that is safe and of use. */
async function tried(
  peer: Peer,
  method: Method,
  options: CallOptions,
  call: (deadline: number) => Promise<unknown>,
  mayRepeat = () => true,
): Promise<unknown> {
  const deadline = peer.deadline(options);
  for (let tries = 1; ; tries += 1) {
    try {
      const reply = await call(deadline);
      peer.answered();
      return reply;
    } catch (failure) {
      if (!(failure instanceof NoAnswer)) throw failure;
      await beforeNextTry(peer, method, { failure, tries, deadline, mayRepeat: mayRepeat() }, options);
    }
  }
}

/** Within this time a server that can be reached is connected: the longest pause between two attempts, and a little more. */
const RECONNECT_MS = 700;

/** Resolves when it is time for the next try; rejects when there is to be none. */
async function beforeNextTry(
  peer: Peer,
  method: Method,
  { failure, tries, deadline, mayRepeat }: { failure: NoAnswer; tries: number; deadline: number; mayRepeat: boolean },
  { signal }: CallOptions,
): Promise<void> {
  peer.failed(failure);
  const pauseMs = peer.repeats.pauseAfter(failure, method, tries, deadline);
  if (pauseMs === undefined || !mayRepeat) throw peer.fault(failure);
  if (failure.reach === 'unreached') await peer.line.connected(Math.min(RECONNECT_MS, deadline - Date.now()), signal);
  await pause(pauseMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error;
  });
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

/** Rejects with the Fault that came, the reason of the signal or NoAnswer. */
function answered(
  { signal }: CallOptions,
  reply: ReplyReader,
  start: (done: (error: ServiceError | null, value?: unknown) => void) => { cancel(): void },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const call = start((error, value) => {
      signal?.removeEventListener('abort', cancel);
      if (error === null) resolve(value);
      else if (signal?.aborted) reject(signal.reason);
      else reject(reply.fault ?? new NoAnswer(error));
    });
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel);
  });
}
