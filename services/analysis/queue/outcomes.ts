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

/** Stores what became of calls that were claimed under a lease, with what the language model cost, and publishes it. */
export class Outcomes {
  readonly #deps: OutcomeDeps;
  readonly #lease: string;

  constructor(deps: OutcomeDeps, lease: string) {
    this.#deps = deps;
    this.#lease = lease;
  }

  /** Stores what a call cost, and its result unless the call was erased or is done already. */
  async add({ event: asked }: ClaimedRequest, tokens: Tokens, event: Event): Promise<void> {
    const { store, bus } = this.#deps;
    await store.db.transaction(async (tx) => {
      const isErased = (await findErased(tx, [asked])).size > 0;
      await this.#record(tx, asked, tokens, isErased);
      const isOurs = await store.requests.remove(tx, asked.id, this.#lease);
      if (isOurs && !isErased) await bus.publish(tx, [event]);
    });
  }

  /** The call is handed back, or erased. What was asked costs all the same. */
  async recordBrokenOff(event: TranscriptReadyEvent, tokens: Tokens): Promise<void> {
    if (tokens.requests === 0) return;
    await this.#deps.store.db.transaction(async (tx) => {
      const isErased = (await findErased(tx, [event])).size > 0;
      await this.#record(tx, event, tokens, isErased);
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
      await this.#record(tx, event, tokens, false);
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
    await this.add(request, tokens, event);
  }

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

  async #record(tx: Sql, event: TranscriptReadyEvent, tokens: Tokens, isErased: boolean): Promise<void> {
    await recordUsage(this.#deps, tx, {
      origin: event,
      callUuid: isErased ? null : event.subject,
      segmentType: event.data.segment_type,
      audioSeconds: event.data.duration ?? 0,
      tokens,
    });
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
