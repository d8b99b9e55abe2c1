import type { KeyObject } from 'node:crypto';
import { signingKey } from '../endpoints/endpoint.ts';
import type { DueDelivery, DuePosition, LeasedEndpoint } from './lease-store.ts';

/** The most attempts at the same time for one endpoint. */
const MAX_CONCURRENCY = 32;
const FIRST_CONCURRENCY = 4;
/** Deliveries read ahead, for each attempt that may run. Every reading costs as much as some twenty attempts. */
const READ_AHEAD = 32;
/** The same while the process holds many deliveries of other endpoints. */
const READ_AHEAD_WHEN_FULL = 2;
/** That is many. */
const FULL = 16_384;
/** The most deliveries that were read and whose results are not stored. */
const MAX_KNOWN = 2_048;
/**
 * Deliveries whose transactions commit late have earlier positions. They are found when reading starts from the
 * beginning again.
 */
const BEGIN_ANEW_MS = 10_000;
/**
 * A longer Retry-After delays its own delivery, but does not hold up the other deliveries of the endpoint for longer.
 */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * What this process is sending to one endpoint. Each endpoint has a queue of its own, so one that is slow or dead delays
 * no other. The number of attempts at the same time doubles with successes and falls to one when the endpoint does not
 * answer.
 */
export class EndpointQueue {
  readonly endpointUuid: string;
  /** Read and not yet begun. */
  readonly queued: { readonly delivery: DueDelivery; readonly readAt: number }[] = [];
  /** The uuids that were read and whose results are not stored yet. */
  readonly known = new Set<string>();
  /** Those whose results were stored while deliveries are being read: what is read may still show them as due. */
  readonly settled = new Set<string>();
  /** Ends its attempts without a result. */
  readonly interrupted = new AbortController();
  /** As it was when deliveries were last read; null before. */
  endpoint: LeasedEndpoint | null = null;
  running = 0;
  isReading = false;
  /** Nothing was due when it was read last. */
  isExhausted = false;
  idleSince = Date.now();
  isClosed = false;
  #concurrency = FIRST_CONCURRENCY;
  #pausedUntil = 0;
  #position: DuePosition | null = null;
  #begunAt = Date.now();
  #keys: { readonly of: string; readonly keys: readonly { key: KeyObject; until: number }[] } | undefined;

  constructor(endpointUuid: string) {
    this.endpointUuid = endpointUuid;
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  /** Whether what it has learned is about this address. */
  isFor(url: string): boolean {
    return this.endpoint === null || this.endpoint.url === url;
  }

  /** Forgets what was read and not begun, and reads from the beginning. */
  beginAnew(): void {
    for (const { delivery } of this.queued) this.known.delete(delivery.uuid);
    this.queued.length = 0;
    this.#position = null;
    this.isExhausted = false;
  }

  /**
   * How many deliveries to read now; 0 when there are enough. `held` is how many the process has read and not begun.
   */
  room(held: number): number {
    const ahead = this.#concurrency * (held < FULL ? READ_AHEAD : READ_AHEAD_WHEN_FULL);
    const wanted = ahead - this.queued.length;
    if (wanted < ahead / 2) return 0;
    return Math.max(Math.min(wanted, MAX_KNOWN - this.known.size), 0);
  }

  /** The position after which to continue; null to read from the beginning, where deliveries may be known already. */
  get position(): DuePosition | null {
    if (Date.now() - this.#begunAt > BEGIN_ANEW_MS) this.#position = null;
    return this.#position;
  }

  /** Notes up to where deliveries were read; null when nothing else is due. */
  readUpTo(position: DuePosition | null): void {
    if (this.#position === null) this.#begunAt = Date.now();
    this.#position = position;
  }

  isPaused(now = Date.now()): boolean {
    return now < this.#pausedUntil;
  }

  /** Adapts to what came of an attempt. */
  learn(result: 'success' | 'refusal' | 'silence', retryAfterMs: number | null): void {
    if (result === 'success') this.#concurrency = Math.min(2 * this.#concurrency, MAX_CONCURRENCY);
    else if (result === 'refusal') this.#concurrency = Math.max(this.#concurrency >> 1, 1);
    else this.#concurrency = 1;
    if (retryAfterMs !== null) {
      this.#pausedUntil = Math.max(this.#pausedUntil, Date.now() + Math.min(retryAfterMs, LONGEST_PAUSE_MS));
    }
  }

  /** The keys that sign now: that of the secret, and those of replaced secrets for their last day. */
  keysOf({ secret, oldSecrets }: LeasedEndpoint, now = Date.now()): KeyObject[] {
    const of = [secret, ...oldSecrets.map((old) => `${old.secret} ${old.until}`)].join(' ');
    if (this.#keys?.of !== of) {
      const old = oldSecrets.map((each) => ({ key: signingKey(each.secret), until: Date.parse(each.until) }));
      this.#keys = { of, keys: [{ key: signingKey(secret), until: Number.POSITIVE_INFINITY }, ...old] };
    }
    return this.#keys.keys.filter(({ until }) => now < until).map(({ key }) => key);
  }
}
