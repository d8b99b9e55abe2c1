import { randomUUID } from 'node:crypto';
import { type Bus, Poison } from '@call-analysis/bus';
import { findErased, WorkInProgress } from '@call-analysis/call-processing';
import { AnalysisWaiting, BudgetSpent, CallFailed, createEvent } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { Logger } from '@call-analysis/runtime';
import { v7 as uuidv7 } from 'uuid';
import type { Analyst } from '../analysts/analyst.ts';
import { type AnalyzedCall, makeAnalysis, type TranscriptReadyEvent } from '../calls/make-analysis.ts';
import type { Firms } from '../firms.ts';
import { isOnThisMachine, type LanguageModelConfig } from '../language-model/config.ts';
import type { LanguageModel } from '../language-model/language-model.ts';
import { type FailureKind, ModelFailure } from '../language-model/outcome.ts';
import { NO_TOKENS, type Tokens, usageOf } from '../money/prices.ts';
import { findActiveScorecards } from '../scorecards/find-active-scorecards.ts';
import type { ScorecardCache } from '../scorecards/scorecard-cache.ts';
import type { Store } from '../store.ts';
import { type ClaimedRequest, LEASE_SECONDS } from './request-store.ts';
import { Throttle } from './throttle.ts';

const POLL_MS = 500;
const TICK_MS = 1_000;
/** A shorter outage is not worth a line in the history of every call that waits. */
const ANNOUNCE_AFTER_MS = 3_000;
const CHUNK = 500;
const LONGEST_DELAY_MS = 15 * 60_000;
const BUDGET_REASON =
  'The budget of the month for language models is spent. The call waits until it is raised or the next month begins.';

export interface ModelQueueParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly log: Logger;
  readonly scorecardCache: ScorecardCache;
  readonly firms: Pick<Firms, 'settings'>;
  /** Asks the language model. */
  readonly modelAnalyst: Analyst;
  readonly model: Pick<LanguageModel, 'isThere'>;
  /** Answers by rules and fallbacks when a firm's budget is spent. */
  readonly ruleAnalyst: Analyst;
  readonly config: LanguageModelConfig;
}

/**
 * Asks the language model about the calls in the queue, as many at a time as the server takes. A call leaves the queue in the
 * transaction that stores its analysis, so after a crash nothing is asked again whose answer is stored. While the server is
 * away nothing fails: calls wait, and their history says for what.
 */
export class ModelQueue {
  readonly inProgress = new WorkInProgress();
  readonly #parts: ModelQueueParts;
  readonly #throttle: Throttle;
  readonly #lease = randomUUID();
  readonly #running = new Set<Promise<void>>();
  /** Calls about which the server is being asked. Where no budget is to be kept, one whose answer is being stored leaves its place. */
  #asking = 0;
  readonly #stopped = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #isClaiming = false;
  #shouldClaimAgain = false;
  #outage: { readonly reason: string; readonly since: number; readonly kind: FailureKind } | null = null;
  /** The server has answered since the last tick, so an outage that any process noted is over. */
  #hasAnswered = false;
  #ticking: Promise<void> | undefined;
  #claiming: Promise<void> | undefined;

  constructor(parts: ModelQueueParts) {
    this.#parts = parts;
    this.#throttle = new Throttle(parts.config.concurrency, parts.config.tokensPerMinute);
  }

  start(): void {
    const tick = () => {
      this.#ticking ??= this.#tick()
        .catch((error: unknown) => this.#parts.log.error({ err: error }, 'the model queue failed'))
        .finally(() => (this.#ticking = undefined));
    };
    this.#timers.push(
      setInterval(() => this.wake(), POLL_MS),
      setInterval(tick, TICK_MS),
      setInterval(
        () => void this.#parts.store.requests.extend(this.#lease).catch(() => {}),
        (LEASE_SECONDS * 1000) / 4,
      ),
    );
    this.wake();
  }

  /** There may be something to do. */
  wake(): void {
    this.#shouldClaimAgain = true;
    if (this.#isClaiming || this.#stopped.signal.aborted) return;
    this.#isClaiming = true;
    this.#claiming = this.#claimAll()
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'claiming calls for the language model failed'))
      .finally(() => (this.#isClaiming = false));
  }

  /** Rejects while the server of the language model does not answer. */
  async ready(): Promise<void> {
    if (this.#outage !== null) throw new Fault('unavailable', 'UNAVAILABLE', this.#outage.reason);
  }

  /** Stops asking. Requests in progress are interrupted and handed back untried. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#stopped.abort(new Error('The service stops.'));
    await this.#claiming;
    await this.#ticking;
    await Promise.all(this.#running);
    await this.#parts.store.requests.handBack(this.#lease).catch(() => {});
  }

  async #claimAll(): Promise<void> {
    while (this.#shouldClaimAgain && !this.#stopped.signal.aborted) {
      this.#shouldClaimAgain = false;
      const free = this.#throttle.free(this.#asking);
      if (free === 0) return;
      const claimed = await this.#parts.store.requests.claim(this.#lease, free);
      for (const request of claimed) this.#run(request);
      // More may have come meanwhile; those that end wake this again.
      if (claimed.length === free) this.#shouldClaimAgain = true;
      if (claimed.length === 0) return;
    }
  }

  #run(request: ClaimedRequest): void {
    this.#asking += 1;
    let isAsking = true;
    const answered = () => {
      if (isAsking) this.#asking -= 1;
      isAsking = false;
      this.wake();
    };
    const work = this.inProgress
      .run(request.event, (erased) => this.#analyze(request, AbortSignal.any([erased, this.#stopped.signal]), answered))
      .catch((error: unknown) =>
        this.#parts.log.error(
          { err: error, call: request.event.subject },
          'a call could not be analyzed by the language model',
        ),
      );
    this.#running.add(work);
    void work.finally(() => {
      this.#running.delete(work);
      answered();
    });
  }

  async #analyze(request: ClaimedRequest, signal: AbortSignal, answered: () => void): Promise<void> {
    const { event, isSpent } = request;
    const beganAt = performance.now();
    const reserved = this.#throttle.begin();
    let used = NO_TOKENS;
    try {
      const made = await this.#ask(request, signal);
      if (!request.hasBudget) answered();
      used = tokensOf(made);
      // A call without speech, or one for the fallbacks, says nothing about the server.
      if (used.requests > 0) this.#succeeded();
      await this.#complete(request, made, used);
    } catch (error) {
      // Handed back, or erased.
      if (signal.aborted) return;
      if (error instanceof ModelFailure) {
        used = error.tokens;
        await this.#failed(request, error, beganAt);
      } else if (error instanceof Poison) {
        await this.#giveUp(request, NO_TOKENS, error.code, error.message, false);
      } else {
        this.#parts.log.warn({ err: error, call: event.subject }, 'the analysis of a call is tried again later');
        await this.#later(request, delayOf(request.tries), null);
      }
    } finally {
      this.#throttle.settle(reserved, isSpent ? 0 : used.input + used.output);
    }
  }

  async #ask({ event, isSpent }: ClaimedRequest, signal: AbortSignal): Promise<AnalyzedCall> {
    const { objects, firms, config, modelAnalyst, ruleAnalyst } = this.#parts;
    const [scorecard] = await findActiveScorecards(this.#parts, [
      {
        firmUuid: event.firmuuid,
        segmentType: event.data.segment_type,
        scorecardUuid: event.data.scorecard_uuid,
      },
    ]);
    const settings = await firms.settings(event.firmuuid);
    const redactForModel = settings.redaction !== 'none' || (config.redact ?? !isOnThisMachine(config.url));
    const analyst = isSpent ? ruleAnalyst : modelAnalyst;
    return makeAnalysis({ objects, analyst }, event, scorecard!, { ...settings, redactForModel }, signal);
  }

  async #complete(request: ClaimedRequest, { row, analyzed }: AnalyzedCall, tokens: Tokens): Promise<void> {
    const { store, bus } = this.#parts;
    await this.#finish(request, tokens, async (tx) => {
      await store.addAnalyses(tx, row === null ? [] : [row]);
      await bus.publish(tx, [analyzed]);
    });
  }

  /** Stores what the call cost, whatever became of it, and its result unless the call was erased or is done already. */
  async #finish(request: ClaimedRequest, tokens: Tokens, store: (tx: Sql) => Promise<void>): Promise<void> {
    const { event, lease } = request;
    await this.#parts.store.db.transaction(async (tx) => {
      const isErased = (await findErased(tx, [event])).size > 0;
      await this.#record(tx, event, tokens, isErased);
      const isOurs = await this.#parts.store.requests.remove(tx, event.id, lease);
      if (isOurs && !isErased) await store(tx);
    });
  }

  async #record(tx: Sql, event: TranscriptReadyEvent, tokens: Tokens, isErased: boolean): Promise<void> {
    if (tokens.requests === 0) return;
    const { store, bus, config } = this.#parts;
    const usage = usageOf(tokens, config.prices);
    const budget = await store.money.record(tx, {
      uuid: uuidv7(),
      firmUuid: event.firmuuid,
      callUuid: isErased ? null : event.subject,
      at: new Date(),
      model: config.model,
      segmentType: event.data.segment_type,
      audioSeconds: event.data.duration ?? 0,
      requests: tokens.requests,
      inputTokens: tokens.input,
      cachedInputTokens: tokens.cachedInput,
      outputTokens: tokens.output,
      cost: usage.cost,
    });
    if (budget !== null)
      await bus.publish(tx, [createEvent('analysis', BudgetSpent, event.firmuuid, event, { budget })]);
  }

  async #failed(request: ClaimedRequest, failure: ModelFailure, beganAt: number): Promise<void> {
    const { log } = this.#parts;
    const { kind, message, tokens, retryAfterMs, isThrottled } = failure;
    if (kind === 'away' || kind === 'misconfigured') {
      const pauseMs = this.#throttle.failed(beganAt, retryAfterMs, isThrottled);
      if (this.#outage?.reason !== message) log.warn({ call: request.event.subject }, message);
      this.#outage = { reason: message, since: this.#outage?.since ?? performance.now(), kind };
      // A server that only asks to slow down is not away.
      if (!isThrottled) await this.#parts.store.requests.noteOutage(message).catch(() => {});
      const isKnown = request.announced === message;
      const isLong = request.tries > 1 || performance.now() - this.#outage.since > ANNOUNCE_AFTER_MS;
      const announced = !isKnown && isLong ? message : null;
      await this.#later(request, Math.max(pauseMs, isThrottled ? 0 : delayOf(request.tries)), announced, tokens, true);
      return;
    }
    this.#succeeded();
    const code = kind === 'unreadable' ? 'ANALYST_UNREADABLE' : 'ANALYST_REFUSED';
    await this.#giveUp(request, tokens, code, message, true);
  }

  #succeeded(): void {
    this.#throttle.succeeded();
    this.#hasAnswered = true;
    if (this.#outage === null) return;
    this.#outage = null;
    this.#parts.log.info({}, 'the language model answers again');
  }

  async #later(
    { event, lease }: ClaimedRequest,
    delayMs: number,
    announced: string | null,
    tokens: Tokens = NO_TOKENS,
    isFailure = false,
  ): Promise<void> {
    const { store, bus } = this.#parts;
    await store.db.transaction(async (tx) => {
      if ((await findErased(tx, [event])).size > 0) return;
      await this.#record(tx, event, tokens, false);
      await store.requests.postpone(tx, event.id, lease, delayMs, announced, isFailure);
      if (announced !== null) await bus.publish(tx, [waiting(event, announced)]);
    });
  }

  async #giveUp(
    request: ClaimedRequest,
    tokens: Tokens,
    code: string,
    message: string,
    retryable: boolean,
  ): Promise<void> {
    await this.#finish(request, tokens, async (tx) => {
      await this.#parts.bus.publish(tx, [failed(request.event, code, message, retryable, request.tries)]);
    });
  }

  /** Tells the histories of calls what they wait for, and fails those that have waited for too long. */
  async #tick(): Promise<void> {
    const { store, bus, config } = this.#parts;
    if (this.#hasAnswered) {
      this.#hasAnswered = false;
      await store.requests.endOutage();
    }
    // Without calls to ask about, nothing else would notice that the server is back.
    if (this.#outage?.kind === 'away' && this.#running.size === 0 && (await this.#parts.model.isThere()))
      this.#outage = null;
    const outage = this.#outage;
    // Where another process gets answers, calls do not wait for what this one cannot do.
    const isShared = outage?.kind !== 'misconfigured' || (await store.requests.hasOutage());
    if (outage !== null && isShared && performance.now() - outage.since > ANNOUNCE_AFTER_MS)
      await this.#announce(outage.reason, false);
    await this.#announce(BUDGET_REASON, true);
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

  async #announce(reason: string, ofSpentFirms: boolean): Promise<void> {
    const { store, bus } = this.#parts;
    await store.db.transaction(async (tx) => {
      const events = await store.requests.takeUnannounced(tx, reason, { ofSpentFirms, limit: CHUNK });
      if (events.length > 0)
        await bus.publish(
          tx,
          events.map((event) => waiting(event, reason)),
        );
    });
  }
}

function tokensOf({ analysis }: AnalyzedCall): Tokens {
  const usage = analysis?.usage ?? null;
  if (usage === null) return NO_TOKENS;
  return {
    requests: usage.requests,
    input: usage.input_tokens,
    cachedInput: usage.cached_input_tokens,
    output: usage.output_tokens,
  };
}

function delayOf(tries: number): number {
  return Math.min(LONGEST_DELAY_MS, 1_000 * 2 ** Math.min(20, tries - 1));
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
