import { randomUUID } from 'node:crypto';
import { Poison } from '@call-analysis/bus';
import { WorkInProgress } from '@call-analysis/call-processing';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Logger } from '@call-analysis/runtime';
import type { Firms } from '@call-analysis/service/firms';
import type { AnalysisResult, Analyst, Conversation, TakeSlot } from '../analysts/analyst.ts';
import { type AnalyzedCall, makeAnalysis } from '../analysts/make-analysis.ts';
import { redacts } from '../language-model/config.ts';
import type { LanguageModel } from '../language-model/language-model.ts';
import { ModelFailure } from '../language-model/outcome.ts';
import { NO_TOKENS, tokensOf } from '../language-model/prices.ts';
import { type ClaimedRequest, LEASE_SECONDS } from '../request-store.ts';
import type { ActiveScorecards } from '../scorecards/active-scorecards.ts';
import type { Scorecard } from '../scorecards/scorecard.ts';
import { type OutcomeDeps, Outcomes } from './outcomes.ts';
import { type Began, Postponed, RequestGate } from './request-gate.ts';

const POLL_MS = 500;
const TICK_MS = 1_000;
/** A shorter outage is not worth a line in the history of every call that waits. */
const ANNOUNCE_AFTER_MS = 3_000;
const LONGEST_DELAY_MS = 60_000;
/** About a quarter of an hour. What fails so often, and not because something does not answer, fails always. */
const MOST_INTERNAL_TRIES = 20;
const PAUSE_REASON = 'The server of the language model is asked nothing for a moment. Try again later.';
const BUDGET_REASON =
  'The budget of the month for language models is spent. The call waits until it is raised or the next month begins.';

export interface ModelQueueDeps extends OutcomeDeps {
  readonly objects: Objects;
  readonly log: Logger;
  readonly activeScorecards: ActiveScorecards;
  readonly firms: Pick<Firms, 'settings'>;
  readonly modelAnalyst: Analyst;
  readonly model: Pick<LanguageModel, 'isThere'>;
  /** Answers by rules and fallbacks when a firm's budget is spent. */
  readonly ruleAnalyst: Analyst;
}

/**
 * Asks the language model about the calls in the queue, as many at a time as the server takes. It claims and prepares a
 * few more in advance, so that the next request can follow an answer immediately. A call leaves the queue in the
 * transaction that stores its analysis, so a stored answer is never asked for again after a crash. While the server
 * does not respond no call fails: calls wait, and their history says for what.
 */
export class ModelQueue {
  readonly inProgress = new WorkInProgress();
  readonly #deps: ModelQueueDeps;
  readonly #gate: RequestGate;
  readonly #outcomes: Outcomes;
  readonly #lease = randomUUID();
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #shouldClaimAgain = false;
  #ticking: Promise<void> | undefined;
  #claiming: Promise<void> | undefined;

  constructor(deps: ModelQueueDeps) {
    this.#deps = deps;
    this.#gate = new RequestGate(deps);
    this.#outcomes = new Outcomes(deps, this.#lease);
  }

  start(): void {
    const tick = () => {
      this.#ticking ??= this.#tick()
        .catch((error: unknown) => this.#deps.log.error({ err: error }, 'the model queue failed'))
        .finally(() => (this.#ticking = undefined));
    };
    this.#timers.push(
      setInterval(() => {
        this.#gate.admit();
        this.wake();
      }, POLL_MS),
      setInterval(tick, TICK_MS),
      setInterval(() => void this.#deps.store.requests.extend(this.#lease).catch(() => {}), (LEASE_SECONDS * 1000) / 4),
    );
    this.wake();
  }

  wake(): void {
    this.#shouldClaimAgain = true;
    if (this.#stopped.signal.aborted) return;
    this.#claiming ??= this.#claimAll()
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'claiming calls for the language model failed'))
      .finally(() => (this.#claiming = undefined));
  }

  /** Rejects while the server of the language model does not answer. */
  ready(): Promise<void> {
    return this.#gate.ready();
  }

  /** Stops asking. Requests in progress are interrupted and handed back untried. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#stopped.abort(new Error('The service stops.'));
    await this.#claiming;
    await this.#ticking;
    await Promise.all(this.#running);
    await this.#deps.store.requests.handBack(this.#lease).catch(() => {});
  }

  /**
   * Analyzes a conversation for somebody who waits for it, within the same limits as the calls of the queue. Stores nothing.
   * Rejects with ModelFailure, `away` also when nothing may be sent for a while.
   */
  async analyzeNow(conversation: Conversation, scorecard: Scorecard, caller: AbortSignal): Promise<AnalysisResult> {
    const signal = AbortSignal.any([caller, this.#stopped.signal]);
    let began: Began | null = null;
    let used = NO_TOKENS;
    this.#gate.enter();
    try {
      const result = await this.#deps.modelAnalyst.analyze(conversation, scorecard, signal, async () => {
        began = await this.#gate.begin(signal);
        return () => {};
      });
      used = tokensOf(result.usage);
      if (used.requests > 0) this.#gate.succeeded();
      return result;
    } catch (error) {
      if (error instanceof Postponed) throw new ModelFailure('away', this.#gate.outage?.reason ?? PAUSE_REASON);
      if (error instanceof ModelFailure) {
        used = error.tokens;
        if (isOfServer(error)) await this.#gate.failed(error, began);
        else if (error.kind !== 'broken_off') this.#gate.succeeded();
      }
      throw error;
    } finally {
      if (began !== null) this.#gate.settle(began, used.input_tokens + used.output_tokens);
      this.#gate.leave(began);
      this.wake();
    }
  }

  async #claimAll(): Promise<void> {
    while (this.#shouldClaimAgain && !this.#stopped.signal.aborted) {
      this.#shouldClaimAgain = false;
      const count = this.#gate.claimable;
      if (count === 0) return;
      const claimed = await this.#deps.store.requests.claim(this.#lease, count);
      for (const request of claimed) this.#run(request);
      // More calls may have arrived in the meantime; those that end wake this again.
      if (claimed.length === count) this.#shouldClaimAgain = true;
      if (claimed.length === 0) return;
    }
  }

  #run(request: ClaimedRequest): void {
    this.#gate.enter();
    const work = this.inProgress
      .run(request.event, (erased) => this.#analyze(request, AbortSignal.any([erased, this.#stopped.signal])))
      .catch((error: unknown) =>
        this.#deps.log.error(
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

  async #analyze(request: ClaimedRequest, signal: AbortSignal): Promise<void> {
    const { event, hasBudget, isSpent } = request;
    let began: Began | null = null;
    let isClaimed = true;
    const leave = () => {
      if (!isClaimed) return;
      isClaimed = false;
      this.#gate.leave(began);
      this.wake();
    };
    const takeSlot: TakeSlot = async () => {
      began = await this.#gate.begin(signal);
      // Others may have spent the budget while this call was prepared.
      if (hasBudget && (await this.#deps.store.requests.isSpent(event.firmuuid))) throw new Postponed();
      return hasBudget ? () => {} : leave;
    };
    let used = NO_TOKENS;
    try {
      const made = await this.#ask(request, signal, takeSlot);
      used = tokensOf(made.analysis?.usage);
      // A call without speech, or one for the fallbacks, says nothing about the server.
      if (used.requests > 0) this.#gate.succeeded();
      await this.#outcomes.add(request, used, made.analyzed);
    } catch (error) {
      if (error instanceof ModelFailure) used = error.tokens;
      if (signal.aborted) {
        await this.#outcomes.recordBrokenOff(event, used);
      } else if (error instanceof Postponed) {
        await this.#deps.store.requests.handBack(this.#lease, [event.id]);
      } else if (error instanceof ModelFailure) {
        await this.#failed(request, error, began);
      } else if (error instanceof Poison) {
        await this.#outcomes.giveUp(request, NO_TOKENS, error.code, error.message, false);
      } else {
        await this.#troubled(request, error);
      }
    } finally {
      leave();
      if (began !== null) this.#gate.settle(began, isSpent ? 0 : used.input_tokens + used.output_tokens);
    }
  }

  /** Something else than the language model failed. The call waits for what is away, and is given up after other failures. */
  async #troubled(request: ClaimedRequest, error: unknown): Promise<void> {
    const { tries, announced, event } = request;
    const isAway = error instanceof Fault && error.kind === 'unavailable';
    if (tries >= MOST_INTERNAL_TRIES && !isAway) {
      this.#deps.log.error({ err: error, call: event.subject }, 'the analysis of a call is given up');
      const message = `The analysis failed ${tries} times. Retry the call; if that fails too, tell us its uuid.`;
      await this.#outcomes.giveUp(request, NO_TOKENS, 'INTERNAL', message, true);
      return;
    }
    this.#deps.log.warn({ err: error, call: event.subject }, 'the analysis of a call is tried again later');
    await this.#outcomes.later(request, delayOf(tries), isAway && announced !== error.message ? error.message : null);
  }

  async #ask({ event, isSpent }: ClaimedRequest, signal: AbortSignal, takeSlot: TakeSlot): Promise<AnalyzedCall> {
    const { objects, firms, config, activeScorecards, modelAnalyst, ruleAnalyst } = this.#deps;
    const { firmuuid: firmUuid, data } = event;
    const kind = { firmUuid, segmentType: data.segment_type, scorecardUuid: data.scorecard_uuid };
    const [scorecard] = await activeScorecards.find([kind]);
    const settings = await firms.settings(firmUuid);
    const redactForModel = settings.redaction !== 'none' || redacts(config);
    const analyst = isSpent ? ruleAnalyst : modelAnalyst;
    return makeAnalysis({ objects, analyst }, event, scorecard!, { ...settings, redactForModel }, signal, takeSlot);
  }

  async #failed(request: ClaimedRequest, failure: ModelFailure, began: Began | null): Promise<void> {
    const { kind, message, tokens, isThrottled } = failure;
    if (isOfServer(failure)) {
      const { pauseMs, outageMs } = await this.#gate.failed(failure, began);
      const isKnown = request.announced === message;
      const isLong = request.tries > 1 || outageMs > ANNOUNCE_AFTER_MS;
      const announced = !isKnown && isLong ? message : null;
      await this.#outcomes.later(
        request,
        Math.max(pauseMs, isThrottled ? 0 : delayOf(request.tries)),
        announced,
        tokens,
        true,
      );
      return;
    }
    this.#gate.succeeded();
    const code = kind === 'unreadable' ? 'ANALYST_UNREADABLE' : 'ANALYST_REFUSED';
    await this.#outcomes.giveUp(request, tokens, code, message, true);
  }

  /** Adds to the history of calls what they wait for, and fails those that have waited too long. */
  async #tick(): Promise<void> {
    const { store } = this.#deps;
    if (this.#gate.takeAnswered()) await store.requests.endOutage();
    // Without calls to ask about, nothing else would notice that the server is back.
    if (this.#gate.outage?.kind === 'away' && this.#running.size === 0 && (await this.#deps.model.isThere()))
      this.#gate.endOutage();
    const { outage } = this.#gate;
    // Where another process gets answers, calls do not wait for what this one cannot do.
    const isShared = outage?.kind !== 'misconfigured' || (await store.requests.hasOutage());
    if (outage !== null && isShared && performance.now() - outage.since > ANNOUNCE_AFTER_MS)
      await this.#outcomes.announce(outage.reason, false);
    await this.#outcomes.announce(BUDGET_REASON, true);
    await store.requests.forgetFailuresOfSpentFirms();
    await this.#outcomes.failHopeless();
  }
}

function isOfServer({ kind }: ModelFailure): boolean {
  return kind === 'away' || kind === 'misconfigured';
}

function delayOf(tries: number): number {
  return Math.min(LONGEST_DELAY_MS, 1_000 * 2 ** Math.min(20, tries - 1));
}
