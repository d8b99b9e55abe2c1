import { HttpError } from '../response/http-error.ts';
import type { Response } from '../response/send.ts';

interface Decision {
  readonly isAllowed: boolean;
  /** Requests that would still be allowed now. */
  readonly remaining: number;
  /** Time until the bucket is full again. */
  readonly fullInMs: number;
  /** Time until this request would be allowed. */
  readonly waitMs: number;
}

/** The time in which an empty bucket fills. */
const WINDOW_MS = 60_000;

/**
 * Token buckets by key, as GCRA: a bucket is stored as the time at which it will be full. A bucket holds one minute's
 * tokens, all of which may be taken at the same time, and fills evenly.
 *
 * A key that was not seen for a minute has a full bucket and needs no memory. When more than `maxKeys` keys arrive within
 * half a minute, the least recently seen ones are treated as full early.
 */
export class TokenBuckets {
  readonly #perTokenMs: number;
  readonly #maxKeys: number;
  #recent = new Map<string, number>();
  #former = new Map<string, number>();
  #rotatedAt = Number.NEGATIVE_INFINITY;

  constructor(options: { perMinute: number; maxKeys?: number }) {
    this.#perTokenMs = WINDOW_MS / options.perMinute;
    this.#maxKeys = options.maxKeys ?? 100_000;
  }

  take(key: string, nowMs: number): Decision {
    const fullAt = Math.max(this.#fullAt(key, nowMs), nowMs);
    const waitMs = fullAt + this.#perTokenMs - nowMs - WINDOW_MS;
    // Rounding makes sums of fractions slightly too large.
    if (waitMs > 1e-6) return this.#decision(false, fullAt - nowMs, waitMs);
    this.#recent.set(key, fullAt + this.#perTokenMs);
    return this.#decision(true, fullAt + this.#perTokenMs - nowMs, 0);
  }

  /** Undoes one `take`. */
  giveBack(key: string, nowMs: number): void {
    this.#recent.set(key, Math.max(this.#fullAt(key, nowMs) - this.#perTokenMs, nowMs));
  }

  get size(): number {
    return this.#recent.size + this.#former.size;
  }

  #decision(isAllowed: boolean, fullInMs: number, waitMs: number): Decision {
    const remaining = Math.max(0, Math.floor((WINDOW_MS - fullInMs) / this.#perTokenMs + 1e-6));
    return { isAllowed, remaining, fullInMs, waitMs };
  }

  #fullAt(key: string, nowMs: number): number {
    if (nowMs - this.#rotatedAt > WINDOW_MS || this.#recent.size >= this.#maxKeys / 2) {
      this.#former = this.#recent;
      this.#recent = new Map();
      this.#rotatedAt = nowMs;
    }
    return this.#recent.get(key) ?? this.#former.get(key) ?? 0;
  }
}

/** Requests per minute, all of which may be sent at the same time. 0 is no limit. */
export interface Quotas {
  readonly perFirm: number;
  readonly perAddress: number;
}

/** A batch client sends a few requests a second. These limits stop a client that runs out of control. */
export const defaultQuotas: Quotas = { perFirm: 30_000, perAddress: 60_000 };

/** An address may fail to authenticate this many times less often than it may send requests. */
const FAILURE_COST = 20;
const FAILURES = 'Too many wrong credentials from your address';

/**
 * Counts requests by address and, after authentication, by firm. The headers are those of
 * draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy: "firm";q=30000;w=60` and `RateLimit: "firm";r=29999;t=1`,
 * where t is the number of seconds until all of q are available again.
 */
export class RateLimits {
  readonly #byFirm: Quota | null;
  readonly #byAddress: Quota | null;
  readonly #failures: Quota | null;

  constructor(quotas: Quotas) {
    this.#byFirm = quotas.perFirm === 0 ? null : new Quota('firm', quotas.perFirm);
    this.#byAddress = quotas.perAddress === 0 ? null : new Quota('address', quotas.perAddress);
    const failures = Math.ceil(quotas.perAddress / FAILURE_COST);
    this.#failures = failures === 0 ? null : new Quota('failed-authentication', failures, FAILURES);
  }

  /** Throws RATE_LIMITED when the address has used up its quota. */
  countAddress(address: string, response: Response): void {
    this.#byAddress?.count(address, response);
  }

  /** Throws RATE_LIMITED when the firm has used up its quota. */
  countFirm(firmUuid: string, response: Response): void {
    this.#byFirm?.count(firmUuid, response);
  }

  /**
   * Throws RATE_LIMITED when too many authentications from the address have failed. They have a quota of their own and
   * do not count by address: so authenticated callers behind the same proxy are not refused because of them.
   */
  countFailedAuthentication(address: string, response: Response): void {
    this.#byAddress?.giveBack(address);
    this.#failures?.count(address, response);
  }
}

/** Requests per minute of each key. */
export class Quota {
  readonly #name: string;
  readonly #policy: string;
  readonly #excess: string;
  readonly #buckets: TokenBuckets;

  constructor(name: string, perMinute: number, excess = `Too many requests from your ${name}`) {
    this.#name = name;
    this.#excess = excess;
    this.#policy = `"${name}";q=${perMinute};w=${WINDOW_MS / 1000}`;
    this.#buckets = new TokenBuckets({ perMinute });
  }

  /** Throws RATE_LIMITED when the key has used it up. */
  count(key: string, response: Response): void {
    const { isAllowed, remaining, fullInMs, waitMs } = this.#buckets.take(key, performance.now());
    response.append('RateLimit-Policy', this.#policy);
    response.append('RateLimit', `"${this.#name}";r=${remaining};t=${Math.ceil(fullInMs / 1000)}`);
    if (isAllowed) return;
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const message = `${this.#excess}. Try again in ${seconds} s.`;
    throw new HttpError(429, 'RATE_LIMITED', message, { 'retry-after': String(seconds) });
  }

  giveBack(key: string): void {
    this.#buckets.giveBack(key, performance.now());
  }
}
