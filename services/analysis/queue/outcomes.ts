import type { Bus } from '@call-analysis/bus';
import { findErased } from '@call-analysis/call-processing';
import { AnalysisWaiting, CallFailed, createEvent, type Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { TranscriptReadyEvent } from '../analysts/make-analysis.ts';
import type { LanguageModelConfig } from '../language-model/config.ts';
import { NO_TOKENS, type Tokens } from '../language-model/prices.ts';
import { recordUsage } from '../money/record-usage.ts';
import type { ClaimedRequest } from '../request-store.ts';
import type { Store } from '../store.ts';

const CHUNK = 500;

export interface OutcomeDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly config: LanguageModelConfig;
}

/** The outcome of a call. */
interface Result {
  readonly request: ClaimedRequest;
  readonly tokens: Tokens;
  readonly event: Event;
}

interface Used {
  readonly event: TranscriptReadyEvent;
  readonly tokens: Tokens;
  readonly isErased: boolean;
}

/** Stores what became of calls that were claimed under a lease, with what the language model cost, and publishes it. */
export class Outcomes {
  readonly #deps: OutcomeDeps;
  readonly #lease: string;
  readonly #results = new Grouped<Result>((results) => this.#store(results));

  constructor(deps: OutcomeDeps, lease: string) {
    this.#deps = deps;
    this.#lease = lease;
  }

  /** Resolves when the outcome is stored. */
  add(result: Result): Promise<void> {
    return this.#results.add(result);
  }

  /** The call is handed back, or erased. What was asked costs all the same. */
  async recordBrokenOff(event: TranscriptReadyEvent, tokens: Tokens): Promise<void> {
    if (tokens.requests === 0) return;
    await this.#deps.store.db.transaction(async (tx) => {
      const isErased = (await findErased(tx, [event])).size > 0;
      await this.#record(tx, [{ event, tokens, isErased }]);
    });
  }

  /** The call waits. `announced` is what its history says about that, if anything. */
  async later(
    { event, lease }: ClaimedRequest,
    delayMs: number,
    announced: string | null,
    tokens: Tokens = NO_TOKENS,
    isFailure = false,
  ): Promise<void> {
    const { store, bus } = this.#deps;
    await store.db.transaction(async (tx) => {
      if ((await findErased(tx, [event])).size > 0) return;
      await this.#record(tx, [{ event, tokens, isErased: false }]);
      await store.requests.postpone(tx, event.id, lease, delayMs, announced, isFailure);
      if (announced !== null) await bus.publish(tx, [waiting(event, announced)]);
    });
  }

  async giveUp(
    request: ClaimedRequest,
    tokens: Tokens,
    code: string,
    message: string,
    retryable: boolean,
  ): Promise<void> {
    const event = failed(request.event, code, message, retryable, request.tries);
    await this.add({ request, tokens, event });
  }

  /** Adds to the history of calls what they wait for. */
  async announce(reason: string, ofSpentFirms: boolean): Promise<void> {
    const { store, bus } = this.#deps;
    await store.db.transaction(async (tx) => {
      const events = await store.requests.takeUnannounced(tx, reason, { ofSpentFirms, limit: CHUNK });
      if (events.length > 0)
        await bus.publish(
          tx,
          events.map((event) => waiting(event, reason)),
        );
    });
  }

  /** Fails the calls that have waited too long. */
  async failHopeless(): Promise<void> {
    const { store, bus, config } = this.#deps;
    await store.db.transaction(async (tx) => {
      const hopeless = await store.requests.takeHopeless(tx, config.giveUpAfterMs, CHUNK);
      const erased = await findErased(
        tx,
        hopeless.map(({ event }) => event),
      );
      const left = hopeless.filter(({ event }) => !erased.has(event.subject));
      if (left.length === 0) return;
      await bus.publish(
        tx,
        left.map(({ event, reason, tries }) =>
          failed(event, 'ANALYST_UNAVAILABLE', unavailable(config.giveUpAfterMs, reason), true, Math.max(1, tries)),
        ),
      );
    });
  }

  /**
   * Stores the costs of all calls, and the results of those that were not erased and are not done already.
   */
  async #store(results: readonly Result[]): Promise<void> {
    const { store, bus } = this.#deps;
    const events = results.map(({ request }) => request.event);
    await store.db.transaction(async (tx) => {
      const erased = await findErased(tx, events);
      await this.#record(
        tx,
        results.map(({ request: { event }, tokens }) => ({ event, tokens, isErased: erased.has(event.subject) })),
      );
      const ids = events.map(({ id }) => id);
      const ours = await store.requests.remove(tx, ids, this.#lease);
      const kept = results.filter(({ request: { event } }) => ours.has(event.id) && !erased.has(event.subject));
      if (kept.length === 0) return;
      await bus.publish(
        tx,
        kept.map(({ event }) => event),
      );
    });
  }

  async #record(tx: Sql, used: readonly Used[]): Promise<void> {
    const asked = used.map(({ event, tokens, isErased }) => ({
      origin: event,
      callUuid: isErased ? null : event.subject,
      segmentType: event.data.segment_type,
      audioSeconds: event.data.duration ?? 0,
      tokens,
    }));
    await recordUsage(this.#deps, tx, asked);
  }
}

function waiting(event: TranscriptReadyEvent, reason: string) {
  return createEvent('analysis', AnalysisWaiting, event.subject, event, { attempt: event.data.attempt, reason });
}

function failed(event: TranscriptReadyEvent, code: string, message: string, retryable: boolean, attempts: number) {
  const { attempt } = event.data;
  return createEvent('analysis', CallFailed, event.subject, event, {
    attempt,
    stage: 'analysis',
    code,
    message,
    retryable,
    attempts,
  });
}

function unavailable(giveUpAfterMs: number, reason: string | null): string {
  const hours = Math.round(giveUpAfterMs / 360_000) / 10;
  return `The language model did not answer for ${hours} h. ${reason ?? ''} Retry the call once it answers.`.replace(
    '  ',
    ' ',
  );
}

/** More at a time would hold the locks of one transaction for too long. */
const MOST = 100;

interface Waiting<Item> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Does one piece of work for many items: what is added while it runs is done together next. When it fails for several, it is
 * done for each alone, so that one bad item does not fail the others.
 */
export class Grouped<Item> {
  readonly #work: (items: readonly Item[]) => Promise<void>;
  #waiting: Waiting<Item>[] = [];
  #isRunning = false;

  constructor(work: (items: readonly Item[]) => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when the work is done for this item. */
  add(item: Item): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ item, done });
    if (!this.#isRunning) void this.#run();
    return done.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#doAll(this.#waiting.splice(0, MOST));
    this.#isRunning = false;
  }

  async #doAll(group: readonly Waiting<Item>[]): Promise<void> {
    try {
      await this.#work(group.map(({ item }) => item));
      for (const { done } of group) done.resolve();
    } catch (error) {
      if (group.length === 1) group[0]!.done.reject(error);
      else for (const each of group) await this.#doAll([each]);
    }
  }
}
