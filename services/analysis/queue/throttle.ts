const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** One call is prepared for every this many that may be in progress. */
const AHEAD = 4;
/** The expected usage of the first calls, before any has been counted. */
const FIRST_TOKENS = 4_000;

/**
 * How many requests may be in progress: as many as configured, fewer while the server refuses some, one to try whether
 * it is back, and none during a pause or when the tokens of the minute are used.
 */
export class Throttle {
  readonly #most: number;
  readonly #tokensPerMinute: number;
  #limit: number;
  #successes = 0;
  #pausedUntil = 0;
  #failures = 0;
  /** Requests that began before the last failure say nothing new when they fail too. */
  #lastFailureAt = -Infinity;
  #isAway = false;
  #tokens: number;
  #refilledAt = performance.now();
  #usualTokens = FIRST_TOKENS;

  constructor(most: number, tokensPerMinute = Infinity) {
    this.#most = most;
    this.#limit = most;
    this.#tokensPerMinute = tokensPerMinute;
    this.#tokens = tokensPerMinute;
  }

  /** How many more requests may begin now. */
  free(active: number, now = performance.now()): number {
    if (now < this.#pausedUntil) return 0;
    const room = Math.max(0, (this.#isAway ? 1 : this.#limit) - active);
    if (this.#tokensPerMinute === Infinity) return room;
    return Math.min(room, this.#requestsInTokens(now));
  }

  /**
   * How many more calls to claim, given the number that are `claimed` but not answered: some are prepared while others
   * are asked about.
   */
  claimable(active: number, claimed: number, now = performance.now()): number {
    if (now < this.#pausedUntil) return 0;
    const most = this.#isAway ? 1 : this.#limit + this.ahead;
    const room = Math.max(0, most - claimed);
    if (this.#tokensPerMinute === Infinity) return room;
    return Math.min(room, Math.max(0, this.#requestsInTokens(now) - (claimed - active)));
  }

  /** How many calls are prepared while others are asked, so that the next is sent when an answer has come. */
  get ahead(): number {
    return Math.ceil(this.#limit / AHEAD);
  }

  /** No request may begin until a pause ends or the server is tried by another one. */
  isHeldUp(active: number, now = performance.now()): boolean {
    return now < this.#pausedUntil || (this.#isAway && active > 0);
  }

  /** A request begins: its tokens are reserved. Returns what to settle with. */
  begin(): number {
    const reserved = this.#expectedTokens;
    this.#tokens -= reserved;
    return reserved;
  }

  settle(reserved: number, used: number): void {
    this.#tokens += reserved - used;
    if (used > 0) this.#usualTokens = Math.max(1, this.#usualTokens * 0.8 + used * 0.2);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#isAway = false;
    this.#successes += 1;
    if (this.#successes < this.#limit || this.#limit >= this.#most) return;
    this.#successes = 0;
    this.#limit += 1;
  }

  /** The server refused or failed a request that began at `beganAt`. Returns the pause before the next. */
  failed(beganAt: number, retryAfterMs: number | null, isThrottled: boolean, now = performance.now()): number {
    if (beganAt < this.#lastFailureAt) {
      if (retryAfterMs !== null) this.#pausedUntil = Math.max(this.#pausedUntil, now + retryAfterMs);
      return Math.max(0, this.#pausedUntil - now);
    }
    this.#lastFailureAt = now;
    this.#failures += 1;
    this.#successes = 0;
    if (isThrottled) this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    else this.#isAway = true;
    const backOff = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    // With jitter, so that replicas do not come back together. A pause that the server asks for is never shorter.
    const pauseMs = Math.max(retryAfterMs ?? 0, backOff * (0.75 + Math.random() / 2));
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    return pauseMs;
  }

  /** Never more than a minute has: a request that takes more is sent when the minute's tokens are there, and waits then. */
  get #expectedTokens(): number {
    return Math.min(this.#usualTokens, this.#tokensPerMinute);
  }

  #requestsInTokens(now: number): number {
    this.#refill(now);
    return Math.max(0, Math.floor(this.#tokens / this.#expectedTokens));
  }

  #refill(now: number): void {
    const gained = ((now - this.#refilledAt) / 60_000) * this.#tokensPerMinute;
    this.#tokens = Math.min(this.#tokensPerMinute, this.#tokens + gained);
    this.#refilledAt = now;
  }
}
