import { EventEmitter } from 'node:events';
import { type Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { Wire } from './answer.ts';
import { MAX_MESSAGE_BYTES } from './connection.ts';
import type { Serialize, Transport, Timing } from './transport.ts';

// A caller that finds the server in its own process needs no socket, no HTTP/2 and no flow control between them: on one
// machine that takes 110 of the 290 ms of processor time of a 50 MB upload. Messages are still made into bytes and read
// back, so that both sides see what they would see from afar. Everything above, faults, deadlines, contexts and the log,
// is the same code.

/** A method as its server knows it. */
export interface Served {
  readonly read: (bytes: Buffer) => unknown;
  readonly handle: (wire: Wire) => void;
}

/** A server of this process. */
export class Neighbour {
  readonly #methods: ReadonlyMap<string, Served>;
  readonly #calls = new Set<DirectCall>();

  constructor(methods: ReadonlyMap<string, Served>) {
    this.#methods = methods;
  }

  begin(path: string, metadata: Metadata, { deadline }: Timing, client: ClientSide): DirectCall {
    const served = this.#methods.get(path);
    const call = new DirectCall(metadata, deadline, client, () => this.#calls.delete(call));
    this.#calls.add(call);
    if (served === undefined) call.fail(status.UNIMPLEMENTED, `${path} is not served`);
    else call.serve(served);
    return call;
  }

  /** Breaks off what is under way, as a connection that is lost does. */
  close(): void {
    for (const call of this.#calls) call.cancel(status.UNAVAILABLE, 'the server has stopped');
  }
}

const neighbours = new Map<string, Neighbour>();

// What these name is on this machine, and nobody else can have it; a host's name, or the address of all interfaces, may
// well be another machine to whoever dials it, or stand for many.
const OURS = /^(unix:|127\.0\.0\.1:|\[::1\]:)/;

/** Makes a server known by its address; returns what ends that. */
export function welcome(address: string, neighbour: Neighbour): () => void {
  if (!OURS.test(address)) return () => {};
  neighbours.set(address, neighbour);
  return () => {
    if (neighbours.get(address) === neighbour) neighbours.delete(address);
  };
}

/** The server of this process at the address, or undefined: then the address has to be connected to. */
export function neighbourAt(address: string): Transport | undefined {
  const neighbour = neighbours.get(address);
  return neighbour && transport(neighbour);
}

function transport(neighbour: Neighbour): Transport {
  return {
    makeUnaryRequest(path, serialize, deserialize, request, metadata, timing, done) {
      const call = neighbour.begin(path, metadata, timing, new OneReply(deserialize, done));
      call.send(serialize, request);
      return { cancel: () => call.cancel() };
    },
    makeClientStreamRequest(path, serialize, deserialize, metadata, timing, done) {
      const call = neighbour.begin(path, metadata, timing, new OneReply(deserialize, done));
      return Object.assign(call.requests.writer, {
        write: (request: unknown) => call.send(serialize, request),
        end: () => call.requests.end(),
        cancel: () => call.cancel(),
      });
    },
    makeServerStreamRequest(path, serialize, deserialize, request, metadata, timing) {
      const replies = new ManyReplies(deserialize);
      const call = neighbour.begin(path, metadata, timing, replies);
      call.send(serialize, request);
      replies.queue.writer.on('drain', () => call.wire.emit('drain'));
      return { [Symbol.asyncIterator]: () => replies.queue.iterate(), cancel: () => call.cancel() };
    },
  };
}

/** What becomes of the answer on the caller's side. */
interface ClientSide {
  /** False when the server should wait for 'drain'. */
  take(bytes: Buffer): boolean;
  end(): void;
  fail(error: ServiceError): void;
}

class OneReply implements ClientSide {
  readonly #deserialize: (bytes: Buffer) => unknown;
  readonly #done: (error: ServiceError | null, value?: unknown) => void;
  #value: unknown;

  constructor(deserialize: (bytes: Buffer) => unknown, done: (error: ServiceError | null, value?: unknown) => void) {
    this.#deserialize = deserialize;
    this.#done = done;
  }

  take(bytes: Buffer): boolean {
    this.#value = this.#deserialize(bytes);
    return true;
  }

  end(): void {
    this.#done(null, this.#value);
  }

  fail(error: ServiceError): void {
    this.#done(error);
  }
}

class ManyReplies implements ClientSide {
  readonly queue = new Queue();
  readonly #deserialize: (bytes: Buffer) => unknown;

  constructor(deserialize: (bytes: Buffer) => unknown) {
    this.#deserialize = deserialize;
  }

  take(bytes: Buffer): boolean {
    return this.queue.write(this.#deserialize(bytes), bytes.length);
  }

  end(): void {
    this.queue.end();
  }

  fail(error: ServiceError): void {
    this.queue.end(error);
  }
}

/** One call between two places of one process. */
class DirectCall {
  readonly requests = new Queue();
  readonly wire: EventEmitter;
  readonly #client: ClientSide;
  readonly #over: () => void;
  readonly #deadline: NodeJS.Timeout;
  #read: ((bytes: Buffer) => unknown) | undefined;
  #isOver = false;

  constructor(metadata: Metadata, deadline: number, client: ClientSide, over: () => void) {
    this.#client = client;
    this.#over = over;
    const late = () => this.cancel(status.DEADLINE_EXCEEDED, 'the deadline has passed');
    this.#deadline = setTimeout(late, Math.max(0, deadline - Date.now()));
    this.wire = Object.assign(new EventEmitter(), {
      metadata,
      request: undefined as unknown,
      getDeadline: () => deadline,
      iterator: () => this.requests.iterate(),
      sendMetadata: () => void this.requests.writer.emit('metadata'),
      write: (bytes: Buffer) => this.#isOver || this.#client.take(bytes),
      end: () => this.#settle(() => this.#client.end()),
    });
    this.wire.on('error', ({ code, details }: { code: status; details: string }) => this.fail(code, details));
  }

  /** Has the method answered, once the caller has gone on: what he does next must not depend on the handler's first steps. */
  serve({ read, handle }: Served): void {
    this.#read = read;
    queueMicrotask(() => {
      if (!this.#isOver) handle(this.wire as unknown as Wire);
    });
  }

  send(serialize: Serialize, request: unknown): boolean {
    if (this.#isOver || this.#read === undefined) return true;
    const handed = handOver(request);
    const bytes = serialize(handed.message);
    const size = bytes.length + handed.bytes;
    if (size > MAX_MESSAGE_BYTES) {
      this.cancel(status.RESOURCE_EXHAUSTED, `a message of ${size} bytes is too large to send`);
      return true;
    }
    const read = handed.restore(this.#read(bytes));
    Object.assign(this.wire, { request: read });
    return this.requests.write(read, size);
  }

  fail(code: status, details: string): void {
    this.#settle(() => this.#client.fail(serviceError(code, details)));
  }

  /** Ends the call for both sides. */
  cancel(code = status.CANCELLED, details = 'cancelled by the caller'): void {
    if (this.#isOver) return;
    this.fail(code, details);
    // From afar it would not be heard at once either.
    queueMicrotask(() => this.wire.emit('cancelled'));
  }

  #settle(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    this.#over();
    this.requests.end(Object.assign(new Error('The caller sends no more.'), { code: 'ERR_STREAM_PREMATURE_CLOSE' }));
    tell();
  }
}

/** A bytes field from this size on is handed over as it is, not copied: whoever sends it does not touch it again. */
const HANDED_BYTES = 4096;

/** Takes large bytes out of a message and puts them back on the other side. */
function handOver(message: unknown): { message: unknown; bytes: number; restore: (read: unknown) => unknown } {
  const large = Object.entries(Object(message) as Record<string, unknown>).filter(
    (field): field is [string, Uint8Array] => field[1] instanceof Uint8Array && field[1].length >= HANDED_BYTES,
  );
  if (large.length === 0) return { message, bytes: 0, restore: (read) => read };
  return {
    // Not empty: only a field that is there is read back.
    message: { ...(message as object), ...Object.fromEntries(large.map(([name]) => [name, Buffer.alloc(1)])) },
    bytes: large.reduce((sum, [, bytes]) => sum + bytes.length, 0),
    restore: (read) => Object.assign(read as object, Object.fromEntries(large)),
  };
}

function serviceError(code: status, details: string): ServiceError {
  return Object.assign(new Error(details), { code, details }) as unknown as ServiceError;
}

/** Under way at most, in one direction; a writer waits beyond it. */
const UNDER_WAY_BYTES = 512 * 1024;

/** Messages on their way, in order, taken out by one iteration. */
class Queue {
  /** Says 'drain' when there is room again. */
  readonly writer = new EventEmitter();
  #messages: { message: unknown; bytes: number }[] = [];
  #bytes = 0;
  #isFull = false;
  #end: { error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  write(message: unknown, bytes: number): boolean {
    if (this.#end !== undefined) return true;
    this.#messages.push({ message, bytes });
    this.#bytes += bytes;
    this.#wake?.();
    this.#isFull = this.#bytes >= UNDER_WAY_BYTES;
    return !this.#isFull;
  }

  /** What is under way still arrives, then the end, or the error. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *iterate(): AsyncGenerator<unknown> {
    for (;;) {
      const next = this.#messages.shift();
      if (next !== undefined) {
        this.#bytes -= next.bytes;
        if (this.#isFull && this.#bytes < UNDER_WAY_BYTES / 2) {
          this.#isFull = false;
          this.writer.emit('drain');
        }
        yield next.message;
      } else if (this.#end !== undefined) {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = undefined;
      }
    }
  }
}
