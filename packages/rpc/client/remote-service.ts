import type { Fault } from '@call-analysis/fault';
import { currentContext, type Logger, newContext } from '@call-analysis/runtime';
import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { inheritedDeadline } from '../wire/incoming-call.ts';
import type { CallOptions, Method } from '../wire/methods.ts';
import { LONGEST_CALL_MS } from '../wire/options.ts';
import { faultOfStatus } from '../wire/status.ts';
import { type Tls, tlsReason } from '../wire/tls.ts';
import { Connection } from './connection.ts';

export interface DialOptions {
  /** The service's name in messages such as `${name} does not answer.` */
  readonly name: string;
  /**
   * How long a call may take, with all its attempts, unless the call says otherwise. Default 10,000; at most
   * LONGEST_CALL_MS.
   */
  readonly deadlineMs?: number | undefined;
  /** Absent: in plain text. */
  readonly tls?: Tls | undefined;
  /** Gets one line when certificates prevent the connection, until a call succeeds or the reason changes. */
  readonly log?: Logger | undefined;
}

/** A service that is called, with its connection and the last reason why there was none. */
export class RemoteService {
  readonly connection: Connection;
  readonly #options: DialOptions;
  #reason: string | undefined;

  constructor(address: string, options: DialOptions, methods: readonly Method[]) {
    this.connection = new Connection(address, options.tls, methods);
    this.#options = options;
  }

  /**
   * The parameters of a call; `deadline` is its latest end, in milliseconds since 1970. Waits for a connection where there
   * is none. Rejects with the reason of an aborted signal.
   */
  async start({ deadlineMs = this.#options.deadlineMs ?? 10_000, signal }: CallOptions) {
    signal?.throwIfAborted();
    const deadline = Math.min(Date.now() + Math.min(deadlineMs, LONGEST_CALL_MS), inheritedDeadline());
    const { requestId, traceparent } = currentContext() ?? newContext();
    const metadata = new Metadata();
    metadata.set('x-request-id', requestId);
    metadata.set('traceparent', traceparent);
    await this.connection.wait(deadline, signal);
    signal?.throwIfAborted();
    // When its connection is lost before a server has begun it, the call waits for the next one.
    metadata.setOptions({ waitForReady: this.connection.isReady });
    return { metadata, deadline };
  }

  succeeded(): void {
    this.#reason = undefined;
  }

  /** The Fault for a call that ended without an answer. A reason that has to do with certificates is logged once. */
  failed(error: ServiceError): Fault {
    const { name, tls, log } = this.#options;
    // Right after a new lookup the library has no reason yet; the one known before still holds.
    if (!error.details.includes('Last error: null')) {
      const reason = tlsReason(error.details, tls !== undefined);
      if (reason !== undefined && reason !== this.#reason) {
        log?.error({ part: name, err: error }, faultOfStatus(name, error, reason).message);
      }
      this.#reason = reason;
    }
    return faultOfStatus(name, error, this.#reason);
  }
}
