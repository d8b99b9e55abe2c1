import { type ServiceError, status } from '@grpc/grpc-js';
import type { Method } from './methods.ts';
import { tlsReason } from './tls.ts';

/**
 * How far a call came that ended without an answer:
 * `refused`: a server that stops said so before it began; `unreached`: it was never sent; `lost`: nobody knows;
 * `over`: there is no use in another try.
 */
export type Reach = 'refused' | 'unreached' | 'lost' | 'over';

/** A call that ended without an answer of its server's own. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly error: ServiceError;
  readonly reach: Reach;

  constructor(error: ServiceError) {
    super(error.details, { cause: error });
    this.error = error;
    this.reach = reachOf(error);
  }
}

// grpc-js tells these apart by their words alone. Words that are not known count as lost, which is safe.
const REFUSED = 'Stream refused by server';
const UNREACHED =
  /No connection established|Name resolution failed|No addresses resolved|Channel closed before call started|Failed to start HTTP\/2 stream/;
const BROKEN = 'Received RST_STREAM';

export function reachOf({ code, details }: ServiceError): Reach {
  switch (code) {
    case status.UNAVAILABLE:
      if (details === REFUSED) return 'refused';
      if (UNREACHED.test(details)) return tlsReason(details, false) === undefined ? 'unreached' : 'over';
      return 'lost';
    case status.CANCELLED:
      return 'lost';
    case status.INTERNAL:
      // A server's own INTERNAL comes as a Fault; this one is a stream that broke off.
      return details.startsWith(BROKEN) || UNREACHED.test(details) ? 'lost' : 'over';
    default:
      return 'over';
  }
}

const MOST_TRIES = 3;
const FIRST_PAUSE_MS = 50;
const PAUSES_GROW_BY = 4;
/** Another server is there to go to, or will be connected first. */
const PAUSE_BEFORE_ANOTHER_MS = 10;

const FULL = 1000;
const PER_SUCCESS = 0.5;

/**
 * When a call is made again: what no server has begun, always; what was lost on the way, when its method says that this
 * is safe (`idempotency_level`). At most three tries, inside the deadline, with growing pauses of random length. While
 * most calls fail there are no second ones, so that a service on its knees is not asked thrice as much: each failure
 * takes one of 1000 tokens, each success gives back a half, and below 500 nothing is repeated. A refusal costs nothing.
 */
export class Repeats {
  #tokens = FULL;

  answered(): void {
    if (this.#tokens < FULL) this.#tokens = Math.min(FULL, this.#tokens + PER_SUCCESS);
  }

  /** How long to wait before the next try, in milliseconds, or undefined when there is to be none. */
  pauseAfter(failure: NoAnswer, method: Method, tries: number, deadline: number): number | undefined {
    const { reach } = failure;
    if (reach !== 'refused') this.#tokens = Math.max(0, this.#tokens - 1);
    if (reach === 'over' || tries >= MOST_TRIES || (reach === 'lost' && !isSafe(method))) return undefined;
    if (reach !== 'refused' && this.#tokens < FULL / 2) return undefined;
    const pauseMs = reach === 'lost' ? FIRST_PAUSE_MS * PAUSES_GROW_BY ** (tries - 1) : PAUSE_BEFORE_ANOTHER_MS;
    const randomMs = pauseMs * (0.5 + Math.random());
    return Date.now() + randomMs < deadline ? randomMs : undefined;
  }
}

function isSafe({ options }: Method): boolean {
  return options?.idempotency_level === 'NO_SIDE_EFFECTS' || options?.idempotency_level === 'IDEMPOTENT';
}
