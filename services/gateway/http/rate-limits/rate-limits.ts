import { HttpError } from '../response/http-error.ts';
import type { Response } from '../response/response.ts';
import { type Decision, TokenBuckets, WINDOW_MS } from './token-buckets.ts';

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
    const decision = this.#buckets.take(key, performance.now());
    const { remaining, fullInMs } = decision;
    response.append('RateLimit-Policy', this.#policy);
    response.append('RateLimit', `"${this.#name}";r=${remaining};t=${Math.ceil(fullInMs / 1000)}`);
    if (!decision.isAllowed) throw this.#rateLimited(decision);
  }

  giveBack(key: string): void {
    this.#buckets.giveBack(key, performance.now());
  }

  #rateLimited({ waitMs }: Decision): HttpError {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const message = `${this.#excess}. Try again in ${seconds} s.`;
    return new HttpError(429, 'RATE_LIMITED', message, { 'retry-after': String(seconds) });
  }
}
