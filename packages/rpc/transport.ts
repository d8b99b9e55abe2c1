import type { EventEmitter } from 'node:events';
import type { Metadata, ServiceError } from '@grpc/grpc-js';

export type Serialize = (message: unknown) => Buffer;
type Deserialize = (bytes: Buffer) => unknown;
type Done = (error: ServiceError | null, value?: unknown) => void;

/** When a call ends whatever happens, in milliseconds since 1970. */
export interface Timing {
  readonly deadline: number;
}

export interface Cancellable {
  cancel(): void;
}

/** Says 'metadata' when the server has begun, and 'drain' when there is room again. */
export type RequestWriter = EventEmitter & Cancellable & { write(request: unknown): boolean; end(): void };

/** What carries calls: a client of grpc-js is one, a server of this process has another. */
export interface Transport {
  makeUnaryRequest(
    path: string,
    serialize: Serialize,
    deserialize: Deserialize,
    request: unknown,
    metadata: Metadata,
    timing: Timing,
    done: Done,
  ): Cancellable;
  makeClientStreamRequest(
    path: string,
    serialize: Serialize,
    deserialize: Deserialize,
    metadata: Metadata,
    timing: Timing,
    done: Done,
  ): RequestWriter;
  makeServerStreamRequest(
    path: string,
    serialize: Serialize,
    deserialize: Deserialize,
    request: unknown,
    metadata: Metadata,
    timing: Timing,
  ): AsyncIterable<unknown> & Cancellable;
}
