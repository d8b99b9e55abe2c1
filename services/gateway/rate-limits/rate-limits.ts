import type { EdgeResponse } from '../http/response/edge-response.ts';
import { Problem } from '../http/response/http-error.ts';
import { Buckets, type Share, WINDOW_MS } from './token-buckets.ts';

/** Requests per minute, all of which may come at once; 0 for as many as there are. */
export interface Quotas {
  readonly perFirm: number;
  readonly perAddress: number;
}

/** A batch client sends a few requests a second; these stop what has run wild, and leave the rest to the others. */
export const defaultQuotas: Quotas = { perFirm: 30_000, perAddress: 60_000 };

/** What an attempt to get in that failed counts as: guessing must be dearer than using. */
const FAILURE_PRICE = 20;

/**
 * Counts requests by address and, once it is known, by firm. The headers are those of draft-ietf-httpapi-ratelimit-headers:
 * `RateLimit-Policy: "firm";q=30000;w=60` and `RateLimit: "firm";r=29999;t=1`, with t the seconds until all of q are left.
 */
export class RateLimits {
  readonly #byFirm: Quota | null;
  readonly #byAddress: Quota | null;

  constructor(quotas: Quotas) {
    this.#byFirm = quotas.perFirm === 0 ? null : new Quota('firm', quotas.perFirm);
    this.#byAddress = quotas.perAddress === 0 ? null : new Quota('address', quotas.perAddress);
  }

  /** Problem RATE_LIMITED when the address has used up its quota. */
  arrive(address: string, response: EdgeResponse): void {
    this.#byAddress?.take(address, response);
  }

  /** Problem RATE_LIMITED when the firm has used up its quota. */
  identify(firmUuid: string, response: EdgeResponse): void {
    this.#byFirm?.take(firmUuid, response);
  }

  /** Whoever sent a request could not prove who it is. */
  fail(address: string): void {
    this.#byAddress?.charge(address, FAILURE_PRICE - 1);
  }
}

class Quota {
  readonly #name: string;
  readonly #policy: string;
  readonly #buckets: Buckets;

  constructor(name: string, perMinute: number) {
    this.#name = name;
    this.#policy = `"${name}";q=${perMinute};w=${WINDOW_MS / 1000}`;
    this.#buckets = new Buckets({ perMinute });
  }

  take(key: string, response: EdgeResponse): void {
    const share = this.#buckets.take(key, performance.now());
    const { left, fullInMs } = share;
    response.append('ratelimit-policy', this.#policy);
    response.append('ratelimit', `"${this.#name}";r=${left};t=${Math.ceil(fullInMs / 1000)}`);
    if (!share.granted) throw this.#tooMany(share);
  }

  charge(key: string, tokens: number): void {
    this.#buckets.charge(key, tokens, performance.now());
  }

  #tooMany({ waitMs }: Share): Problem {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const message = `Too many requests from your ${this.#name}. Try again in ${seconds} s.`;
    return new Problem(429, 'RATE_LIMITED', message, { 'retry-after': String(seconds) });
  }
}
