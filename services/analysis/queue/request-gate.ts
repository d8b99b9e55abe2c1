import { Fault } from '@call-analysis/fault';
import type { Logger } from '@call-analysis/runtime';
import { type FailureKind, type ModelFailure } from '../language-model/outcome.ts';
import type { OutcomeDeps } from './outcomes.ts';
import { Throttle } from './throttle.ts';

export interface Began {
  readonly at: number;
  /** The tokens that were reserved for it. */
  readonly reserved: number;
}

/** A call whose request is ready to be sent. */
interface Ready {
  begin(): void;
  leave(reason: unknown): void;
}

/** No request may begin now: the call goes back to the queue as if it had not been claimed. */
export class Postponed extends Error {}

interface Outage {
  readonly reason: string;
  readonly since: number;
  readonly kind: FailureKind;
}

/** Lets requests to the server of the language model begin, as many at a time as it takes, and notes whether it answers. */
export class RequestGate {
  readonly #deps: Pick<OutcomeDeps, 'store' | 'config'> & { readonly log: Logger };
  readonly #throttle: Throttle;
  /** Calls about which the server is being asked. Where a budget is to be kept, until what they cost is stored. */
  #asking = 0;
  /** Those, and the calls that were claimed to be asked about next. */
  #claimed = 0;
  readonly #ready = new Set<Ready>();
  #outage: Outage | null = null;
  /** The server has answered since `takeAnswered`, so an outage that any process noted is over. */
  #hasAnswered = false;
  #hasToldOfTokens = false;

  constructor(deps: Pick<OutcomeDeps, 'store' | 'config'> & { readonly log: Logger }) {
    this.#deps = deps;
    this.#throttle = new Throttle(deps.config.concurrency, deps.config.tokensPerMinute);
  }

  get outage(): Outage | null {
    return this.#outage;
  }

  /** How many more calls to claim: several at a time, unless nothing is left to ask about. */
  get claimable(): number {
    const count = this.#throttle.claimable(this.#asking, this.#claimed);
    return this.#claimed > this.#asking && count < this.#throttle.ahead / 2 ? 0 : count;
  }

  /** A call is claimed, to be asked about. */
  enter(): void {
    this.#claimed += 1;
  }

  /** The counterpart of `enter`. */
  leave(began: Began | null): void {
    this.#claimed -= 1;
    if (began !== null) this.#asking -= 1;
    this.admit();
  }

  /** Waits until one more request may begin. Rejects with Postponed when none may for a while. */
  begin(signal: AbortSignal): Promise<Began> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#throttle.isHeldUp(this.#asking)) throw new Postponed();
      const stop = () => ready.leave(signal.reason);
      const ready: Ready = {
        begin: () => {
          this.#asking += 1;
          signal.removeEventListener('abort', stop);
          resolve({ at: performance.now(), reserved: this.#throttle.begin() });
        },
        leave: (reason) => {
          this.#ready.delete(ready);
          signal.removeEventListener('abort', stop);
          reject(reason as Error);
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#ready.add(ready);
      this.admit();
    });
  }

  admit(): void {
    for (const ready of this.#ready) {
      if (this.#throttle.free(this.#asking) === 0) return;
      this.#ready.delete(ready);
      ready.begin();
    }
  }

  /** What a request took in the end. */
  settle({ reserved }: Began, tokens: number): void {
    this.#throttle.settle(reserved, tokens);
    const { tokensPerMinute = Infinity } = this.#deps.config;
    if (tokens <= tokensPerMinute || this.#hasToldOfTokens) return;
    this.#hasToldOfTokens = true;
    const message = `A call took ${tokens} tokens, more than the ${tokensPerMinute} of a minute: the next waits until they are made up for. Raise LLM_TOKENS_PER_MINUTE if calls wait too long.`;
    this.#deps.log.warn({}, message);
  }

  /** The server does not answer, or takes no requests. Returns the pause before the next one, and since when that is so. */
  async failed(
    { kind, message, retryAfterMs, isThrottled }: ModelFailure,
    began: Began | null,
  ): Promise<{ pauseMs: number; outageMs: number }> {
    const pauseMs = this.#throttle.failed(began?.at ?? performance.now(), retryAfterMs, isThrottled);
    // Another process may get answers.
    if (this.#throttle.isHeldUp(this.#asking)) for (const ready of this.#ready) ready.leave(new Postponed());
    if (this.#outage?.reason !== message) this.#deps.log.warn({}, message);
    const { since } = (this.#outage = { reason: message, since: this.#outage?.since ?? performance.now(), kind });
    // A server that only asks to slow down counts as available.
    if (!isThrottled) await this.#deps.store.requests.noteOutage(message).catch(() => {});
    return { pauseMs, outageMs: performance.now() - since };
  }

  succeeded(): void {
    this.#throttle.succeeded();
    this.#hasAnswered = true;
    if (this.#outage === null) return;
    this.#outage = null;
    this.#deps.log.info({}, 'the language model answers again');
  }

  /** The server is back, although nothing was asked. */
  endOutage(): void {
    this.#outage = null;
  }

  takeAnswered(): boolean {
    const hasAnswered = this.#hasAnswered;
    this.#hasAnswered = false;
    return hasAnswered;
  }

  /** Rejects while the server does not answer. */
  async ready(): Promise<void> {
    if (this.#outage !== null) throw new Fault('unavailable', 'UNAVAILABLE', this.#outage.reason);
  }
}
