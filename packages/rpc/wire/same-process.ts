import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { type Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { Method } from './methods.ts';
import { MAX_MESSAGE_BYTES } from './options.ts';

// Within a process, a call with one request and one reply does without the socket: HTTP/2 is most of what it costs
// (docs/decisions/calls-within-a-process.md). Messages are made into bytes and read again as over a connection, so that both
// sides get what they would get from another process.

/** What a call is made with, and who gets its reply. */
interface Outgoing {
  readonly metadata: Metadata;
  readonly deadline: number;
  readonly read: (bytes: Buffer) => unknown;
  readonly done: (error: ServiceError | null, value?: unknown) => void;
}

/** A server of this process. */
export class LocalServer {
  readonly #inServersContext = AsyncLocalStorage.snapshot();
  readonly #methods = new Map<string, (call: LocalCall) => void>();
  readonly #calls = new Set<LocalCall>();

  add(method: Method, handle: (call: LocalCall) => void): void {
    if (!method.requestStream && !method.responseStream) this.#methods.set(method.path, handle);
  }

  serves({ path }: Method): boolean {
    return this.#methods.has(path);
  }

  begin(method: Method, request: unknown, outgoing: Outgoing): LocalCall {
    const call = new LocalCall(outgoing, () => this.#calls.delete(call));
    this.#calls.add(call);
    const handle = this.#methods.get(method.path)!;
    // As over a connection, the handler begins after its caller has gone on, and knows nothing of its caller's context.
    queueMicrotask(() => {
      if (call.send(method, request)) this.#inServersContext(handle, call);
    });
    return call;
  }

  /** Breaks off the calls in progress, as a connection that is lost does. */
  cutOff(): void {
    for (const call of this.#calls) call.cancel(status.UNAVAILABLE, 'The server stops.');
  }
}

const servers = new Map<string, LocalServer>();

/** Only a socket's path is certain to lead to the server that listens on it. A name or a port may lead to another machine. */
const ON_THIS_MACHINE = /^unix:/;

/** Lets this process call the server without the socket, until the returned function is called. */
export function offer(address: string, server: LocalServer): () => void {
  if (!ON_THIS_MACHINE.test(address)) return () => {};
  servers.set(address, server);
  return () => {
    if (servers.get(address) === server) servers.delete(address);
  };
}

/** The server of this process that listens on the address and has the method. */
export function serverInThisProcess(address: string, method: Method): LocalServer | undefined {
  const server = servers.get(address);
  return server?.serves(method) ? server : undefined;
}

/** A call, as the server and the caller see it. On the server's side it has what `answer` needs of a call of grpc-js. */
export class LocalCall extends EventEmitter {
  readonly metadata: Metadata;
  request: unknown;
  readonly #outgoing: Outgoing;
  readonly #forget: () => void;
  readonly #late: NodeJS.Timeout;
  #reply: unknown;
  #isOver = false;

  constructor(outgoing: Outgoing, forget: () => void) {
    super();
    this.metadata = outgoing.metadata;
    this.#outgoing = outgoing;
    this.#forget = forget;
    const late = () => this.cancel(status.DEADLINE_EXCEEDED, 'Deadline exceeded');
    this.#late = setTimeout(late, outgoing.deadline - Date.now());
    this.on('error', ({ code, details }: { code: status; details: string }) => this.#fail(code, details));
  }

  getDeadline(): number {
    return this.#outgoing.deadline;
  }

  /** False when the call is over without having reached the server. */
  send(method: Method, request: unknown): boolean {
    if (Date.now() >= this.getDeadline()) this.cancel(status.DEADLINE_EXCEEDED, 'Deadline exceeded');
    if (this.#isOver) return false;
    try {
      const bytes = method.requestSerialize(request);
      if (bytes.length <= MAX_MESSAGE_BYTES) {
        this.request = method.requestDeserialize(bytes);
        return true;
      }
      this.#fail(status.RESOURCE_EXHAUSTED, `a request of ${bytes.length} bytes is too large to send`);
    } catch (error) {
      this.#fail(status.INTERNAL, `The request cannot be sent: ${String(error)}`);
    }
    return false;
  }

  write(bytes: Buffer): boolean {
    if (!this.#isOver) this.#reply = this.#outgoing.read(bytes);
    return true;
  }

  end(): void {
    this.#settle(null);
  }

  cancel(code = status.CANCELLED, details = 'Cancelled on client'): void {
    if (this.#isOver) return;
    this.#fail(code, details);
    // Over a connection, what a handler is doing at the moment would not be interrupted either.
    queueMicrotask(() => this.emit('cancelled'));
  }

  #fail(code: status, details: string): void {
    this.#settle(Object.assign(new Error(details), { code, details, metadata: this.metadata }));
  }

  #settle(error: ServiceError | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#late);
    this.#forget();
    this.#outgoing.done(error, this.#reply);
  }
}
