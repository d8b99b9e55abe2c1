import { randomUUID } from 'node:crypto';
import { type Bus, Poison } from '@call-analysis/bus';
import { findErased, WorkInProgress } from '@call-analysis/call-processing';
import { AnalysisWaiting, BudgetSpent, CallFailed, createEvent, type Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { Logger } from '@call-analysis/runtime';
import type { Firms } from '@call-analysis/service/firms';
import { v7 as uuidv7 } from 'uuid';
import type { AnalysisResult, Analyst, Conversation, Turn } from '../analysts/analyst.ts';
import { type AnalyzedCall, makeAnalysis, type TranscriptReadyEvent } from '../calls/make-analysis.ts';
import { isOnThisMachine, type LanguageModelConfig } from '../language-model/config.ts';
import type { LanguageModel } from '../language-model/language-model.ts';
import { type FailureKind, ModelFailure } from '../language-model/outcome.ts';
import { NO_TOKENS, type Tokens, tokensOf, usageOf } from '../money/prices.ts';
import { findActiveScorecards } from '../scorecards/find-active-scorecards.ts';
import type { ScorecardCache } from '../scorecards/scorecard-cache.ts';
import type { Scorecard } from '../scorecards/scorecard.ts';
import type { NewAnalysis, Store } from '../store.ts';
import { Grouped } from './grouped.ts';
import { type ClaimedRequest, LEASE_SECONDS } from './request-store.ts';
import { Throttle } from './throttle.ts';

const POLL_MS = 500;
const TICK_MS = 1_000;
/** A shorter outage is not worth a line in the history of every call that waits. */
const ANNOUNCE_AFTER_MS = 3_000;
const CHUNK = 500;
const LONGEST_DELAY_MS = 60_000;
/** About a quarter of an hour. What fails so often, and not because something does not answer, fails always. */
const MOST_INTERNAL_TRIES = 20;
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

const PAUSE_REASON = 'The server of the language model is asked nothing for a moment. Try again later.';

/** A request that began. */
interface Began {
  readonly at: number;
  /** The tokens that were reserved for it. */
  readonly reserved: number;
}

/** A call whose request is ready to be sent. */
interface Ready {
  begin(): void;
  leave(reason: unknown): void;
}

/** The outcome of a call. */
interface Result {
  readonly request: ClaimedRequest;
  readonly tokens: Tokens;
  readonly rows: readonly NewAnalysis[];
  readonly event: Event;
}

interface Used {
  readonly event: TranscriptReadyEvent;
  readonly tokens: Tokens;
  readonly isErased: boolean;
}

/** No request may begin now: the call goes back to the queue as if it had not been claimed. */
class NotNow extends Error {}

/**
 * Asks the language model about the calls in the queue, as many at a time as the server takes. It claims and prepares a
 * few more in advance, so that the next request can follow an answer immediately. A call leaves the queue in the
 * transaction that stores its analysis, so a stored answer is never asked for again after a crash. While the server
 * does not respond no call fails: calls wait, and their history says for what.
 */
export class ModelQueue {
  readonly inProgress = new WorkInProgress();
  readonly #parts: ModelQueueParts;
  readonly #throttle: Throttle;
  readonly #lease = randomUUID();
  readonly #running = new Set<Promise<void>>();
  /** Calls about which the server is being asked. Where a budget is to be kept, until what they cost is stored. */
  #asking = 0;
  /** Those, and the calls that were claimed to be asked about next. */
  #claimed = 0;
  /** Calls whose requests are ready, in order. */
  readonly #ready = new Set<Ready>();
  readonly #results = new Grouped<Result>((results) => this.#store(results));
  readonly #stopped = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #isClaiming = false;
  #shouldClaimAgain = false;
  #outage: { readonly reason: string; readonly since: number; readonly kind: FailureKind } | null = null;
  /** The server has answered since the last tick, so an outage that any process noted is over. */
  #hasAnswered = false;
  #hasToldOfTokens = false;
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
      setInterval(() => {
        this.#admit();
        this.wake();
      }, POLL_MS),
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

  /**
   * Analyzes a conversation for somebody who waits for it, within the same limits as the calls of the queue. Stores nothing.
   * Rejects with ModelFailure, `away` also when nothing may be sent for a while.
   */
  async analyzeNow(conversation: Conversation, scorecard: Scorecard, caller: AbortSignal): Promise<AnalysisResult> {
    const signal = AbortSignal.any([caller, this.#stopped.signal]);
    let began: Began | null = null;
    let used = NO_TOKENS;
    this.#claimed += 1;
    try {
      const result = await this.#parts.modelAnalyst.analyze(conversation, scorecard, signal, async () => {
        began = await this.#begin(signal);
        return () => {};
      });
      used = tokensOf(result.usage);
      if (used.requests > 0) this.#succeeded();
      return result;
    } catch (error) {
      if (error instanceof NotNow) throw new ModelFailure('away', this.#outage?.reason ?? PAUSE_REASON);
      if (error instanceof ModelFailure) {
        used = error.tokens;
        if (isOfServer(error)) await this.#serverFailed(error, (began as Began | null)?.at ?? performance.now());
        else if (error.kind !== 'broken_off') this.#succeeded();
      }
      throw error;
    } finally {
      this.#claimed -= 1;
      if (began !== null) {
        this.#asking -= 1;
        this.#settle((began as Began).reserved, used.input + used.output);
      }
      this.#admit();
      this.wake();
    }
  }

  async #claimAll(): Promise<void> {
    while (this.#shouldClaimAgain && !this.#stopped.signal.aborted) {
      this.#shouldClaimAgain = false;
      const count = this.#throttle.claimable(this.#asking, this.#claimed);
      // Several at a time, unless nothing is left to ask about.
      if (count === 0 || (this.#claimed > this.#asking && count < this.#throttle.ahead / 2)) return;
      const claimed = await this.#claim(count);
      for (const { request, scorecard } of claimed) this.#run(request, scorecard);
      // More calls may have arrived in the meantime; those that end wake this again.
      if (claimed.length === count) this.#shouldClaimAgain = true;
      if (claimed.length === 0) return;
    }
  }

  async #claim(count: number): Promise<{ request: ClaimedRequest; scorecard: Scorecard }[]> {
    const claimed = await this.#parts.store.requests.claim(this.#lease, count);
    try {
      return await this.#withScorecards(claimed);
    } catch {
      // The trouble of one call, or of one firm, does not hold up the others.
      const found = [];
      for (const request of claimed) {
        try {
          found.push(...(await this.#withScorecards([request])));
        } catch (error) {
          await this.#troubled(request, error);
        }
      }
      return found;
    }
  }

  async #withScorecards(
    claimed: readonly ClaimedRequest[],
  ): Promise<{ request: ClaimedRequest; scorecard: Scorecard }[]> {
    const kinds = claimed.map(({ event: { firmuuid, data } }) => ({
      firmUuid: firmuuid,
      segmentType: data.segment_type,
      scorecardUuid: data.scorecard_uuid,
    }));
    const scorecards = claimed.length === 0 ? [] : await findActiveScorecards(this.#parts, kinds);
    return claimed.map((request, index) => ({ request, scorecard: scorecards[index]! }));
  }

  #run(request: ClaimedRequest, scorecard: Scorecard): void {
    this.#claimed += 1;
    const work = this.inProgress
      .run(request.event, (erased) =>
        this.#analyze(request, scorecard, AbortSignal.any([erased, this.#stopped.signal])),
      )
      .catch((error: unknown) =>
        this.#parts.log.error(
          { err: error, call: request.event.subject },
          'a call could not be analyzed by the language model',
        ),
      );
    this.#running.add(work);
    void work.finally(() => {
      this.#running.delete(work);
      this.wake();
    });
  }

  async #analyze(request: ClaimedRequest, scorecard: Scorecard, signal: AbortSignal): Promise<void> {
    const { event, hasBudget, isSpent } = request;
    let began: Began | null = null;
    let isClaimed = true;
    const leave = () => {
      if (!isClaimed) return;
      isClaimed = false;
      this.#claimed -= 1;
      if (began !== null) this.#asking -= 1;
      this.#admit();
      this.wake();
    };
    const turn: Turn = async () => {
      began = await this.#begin(signal);
      // Others may have spent the budget while this call was prepared.
      if (hasBudget && (await this.#parts.store.requests.isSpent(event.firmuuid))) throw new NotNow();
      return hasBudget ? () => {} : leave;
    };
    let used = NO_TOKENS;
    try {
      const made = await this.#ask(request, scorecard, signal, turn);
      used = tokensOf(made.analysis?.usage);
      // A call without speech, or one for the fallbacks, says nothing about the server.
      if (used.requests > 0) this.#succeeded();
      const rows = made.row === null ? [] : [made.row];
      await this.#results.add({ request, tokens: used, rows, event: made.analyzed });
    } catch (error) {
      if (error instanceof ModelFailure) used = error.tokens;
      // Handed back, or erased. What was asked costs all the same.
      if (signal.aborted) {
        await this.#recordBrokenOff(event, used);
      } else if (error instanceof NotNow) {
        await this.#handBack([request]);
      } else if (error instanceof ModelFailure) {
        await this.#failed(request, error, (began as Began | null)?.at ?? performance.now());
      } else if (error instanceof Poison) {
        await this.#giveUp(request, NO_TOKENS, error.code, error.message, false);
      } else {
        await this.#troubled(request, error);
      }
    } finally {
      leave();
      if (began !== null) this.#settle((began as Began).reserved, isSpent ? 0 : used.input + used.output);
    }
  }

  #settle(reserved: number, tokens: number): void {
    this.#throttle.settle(reserved, tokens);
    const { tokensPerMinute = Infinity } = this.#parts.config;
    if (tokens <= tokensPerMinute || this.#hasToldOfTokens) return;
    this.#hasToldOfTokens = true;
    const message = `A call took ${tokens} tokens, more than the ${tokensPerMinute} of a minute: the next waits until they are made up for. Raise LLM_TOKENS_PER_MINUTE if calls wait too long.`;
    this.#parts.log.warn({}, message);
  }

  /** Something else than the language model failed. The call waits for what is away, and is given up after other failures. */
  async #troubled(request: ClaimedRequest, error: unknown): Promise<void> {
    const { tries, announced, event } = request;
    const isAway = error instanceof Fault && error.kind === 'unavailable';
    if (tries >= MOST_INTERNAL_TRIES && !isAway) {
      this.#parts.log.error({ err: error, call: event.subject }, 'the analysis of a call is given up');
      const message = `The analysis failed ${tries} times. Retry the call; if that fails too, tell us its uuid.`;
      await this.#giveUp(request, NO_TOKENS, 'INTERNAL', message, true);
      return;
    }
    this.#parts.log.warn({ err: error, call: event.subject }, 'the analysis of a call is tried again later');
    await this.#later(request, delayOf(tries), isAway && announced !== error.message ? error.message : null);
  }

  /** Waits until one more request may begin. Rejects with NotNow when none may for a while. */
  #begin(signal: AbortSignal): Promise<Began> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#throttle.isHeldUp(this.#asking)) throw new NotNow();
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
      this.#admit();
    });
  }

  /** Lets requests begin that are ready. */
  #admit(): void {
    for (const ready of this.#ready) {
      if (this.#throttle.free(this.#asking) === 0) return;
      this.#ready.delete(ready);
      ready.begin();
    }
  }

  async #handBack(requests: readonly ClaimedRequest[]): Promise<void> {
    await this.#parts.store.requests.handBack(
      this.#lease,
      requests.map(({ event }) => event.id),
    );
  }

  async #ask(
    { event, isSpent }: ClaimedRequest,
    scorecard: Scorecard,
    signal: AbortSignal,
    turn: Turn,
  ): Promise<AnalyzedCall> {
    const { objects, firms, config, modelAnalyst, ruleAnalyst } = this.#parts;
    const settings = await firms.settings(event.firmuuid);
    const redactForModel = settings.redaction !== 'none' || (config.redact ?? !isOnThisMachine(config.url));
    const analyst = isSpent ? ruleAnalyst : modelAnalyst;
    return makeAnalysis({ objects, analyst }, event, scorecard, { ...settings, redactForModel }, signal, turn);
  }

  /**
   * Stores the costs of all calls, and the results of those that were not erased and are not done already.
   */
  async #store(results: readonly Result[]): Promise<void> {
    const { store, bus } = this.#parts;
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
      await store.addAnalyses(
        tx,
        kept.flatMap(({ rows }) => rows),
      );
      await bus.publish(
        tx,
        kept.map(({ event }) => event),
      );
    });
  }

  async #recordBrokenOff(event: TranscriptReadyEvent, tokens: Tokens): Promise<void> {
    if (tokens.requests === 0) return;
    await this.#parts.store.db.transaction(async (tx) => {
      const isErased = (await findErased(tx, [event])).size > 0;
      await this.#record(tx, [{ event, tokens, isErased }]);
    });
  }

  async #record(tx: Sql, used: readonly Used[]): Promise<void> {
    const { store, bus, config } = this.#parts;
    const usages = used.flatMap(({ event, tokens, isErased }) =>
      tokens.requests === 0
        ? []
        : [
            {
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
              cost: usageOf(tokens, config.prices).cost,
            },
          ],
    );
    const spent = [...(await store.money.record(tx, usages))].map(([firm, budget]) => {
      const cause = used.find(({ event }) => event.firmuuid === firm)!.event;
      return createEvent('analysis', BudgetSpent, firm, cause, { budget });
    });
    if (spent.length > 0) await bus.publish(tx, spent);
  }

  async #failed(request: ClaimedRequest, failure: ModelFailure, beganAt: number): Promise<void> {
    const { kind, message, tokens, isThrottled } = failure;
    if (isOfServer(failure)) {
      const { pauseMs, outageMs } = await this.#serverFailed(failure, beganAt);
      const isKnown = request.announced === message;
      const isLong = request.tries > 1 || outageMs > ANNOUNCE_AFTER_MS;
      const announced = !isKnown && isLong ? message : null;
      await this.#later(request, Math.max(pauseMs, isThrottled ? 0 : delayOf(request.tries)), announced, tokens, true);
      return;
    }
    this.#succeeded();
    const code = kind === 'unreadable' ? 'ANALYST_UNREADABLE' : 'ANALYST_REFUSED';
    await this.#giveUp(request, tokens, code, message, true);
  }

  /** The server does not answer, or takes no requests. Returns the pause before the next one, and since when that is so. */
  async #serverFailed(
    { kind, message, retryAfterMs, isThrottled }: ModelFailure,
    beganAt: number,
  ): Promise<{ pauseMs: number; outageMs: number }> {
    const pauseMs = this.#throttle.failed(beganAt, retryAfterMs, isThrottled);
    // Another process may get answers.
    if (this.#throttle.isHeldUp(this.#asking)) for (const ready of this.#ready) ready.leave(new NotNow());
    if (this.#outage?.reason !== message) this.#parts.log.warn({}, message);
    const { since } = (this.#outage = { reason: message, since: this.#outage?.since ?? performance.now(), kind });
    // A server that only asks to slow down counts as available.
    if (!isThrottled) await this.#parts.store.requests.noteOutage(message).catch(() => {});
    return { pauseMs, outageMs: performance.now() - since };
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
      await this.#record(tx, [{ event, tokens, isErased: false }]);
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
    const event = failed(request.event, code, message, retryable, request.tries);
    await this.#results.add({ request, tokens, rows: [], event });
  }

  /** Adds to the history of calls what they wait for, and fails those that have waited too long. */
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
    await store.requests.forgetFailuresOfSpentFirms();
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

function isOfServer({ kind }: ModelFailure): boolean {
  return kind === 'away' || kind === 'misconfigured';
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
