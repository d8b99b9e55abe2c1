import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { counter, type Logger } from '@call-analysis/runtime';
import { signatures } from '../endpoints/signature.ts';
import type { Answer, HttpSender } from './http-sender.ts';
import { Lane } from './lane.ts';
import type { AttemptResult, DueDelivery, Leases } from './lease-store.ts';
import { openResultWriter } from './result-writer.ts';
import { pauseMs } from './schedule.ts';

export interface SenderOptions {
  /** After the death of a process, others take over its endpoints when their leases end. */
  readonly leaseMs: number;
  /** How often the database is asked for deliveries that are due. */
  readonly pollMs: number;
  /** The same while this process sends to no endpoint. New deliveries wake it; retries are due after seconds. */
  readonly idlePollMs: number;
  /** Endpoints that this process sends to at the same time, at most. */
  readonly maxEndpoints: number;
  /** With more attempts at the same time, an endpoint may have only one. */
  readonly maxAttempts: number;
  /** A delivery that was read longer ago is read again before it is sent: it may have been erased meanwhile. */
  readonly queuedMs: number;
}

const defaults: SenderOptions = {
  leaseMs: 10_000,
  pollMs: 250,
  idlePollMs: 2_000,
  maxEndpoints: 5_000,
  maxAttempts: 2_000,
  queuedMs: 10_000,
};

/** The lease of an endpoint with nothing to send is released after this time. */
const IDLE_MS = 10_000;
const ACQUIRED_AT_ONCE = 200;
/** To write the last results and give the leases back. */
const WRITE_MS = 3_000;
const USER_AGENT = 'call-analysis-webhooks/1.0';
const GONE = 410;

const attempts = counter('webhook_attempts_total', 'Attempts to deliver an event, by what came of them.', ['result']);

export interface Sender {
  /** Looks for deliveries of these endpoints now instead of at the next poll. */
  wake(endpoints: readonly string[]): void;
  /** Begins no attempt, lets the running ones end within the time, and gives all endpoints back. */
  close(withinMs: number): Promise<void>;
}

/**
 * Sends what is due, until it is closed. A delivery is written as sent after its answer has come, so one whose process
 * dies in between is sent again, with the same webhook-id.
 */
export function runSender(
  parts: { leases: Leases; http: HttpSender; log: Logger },
  options: Partial<SenderOptions> = {},
): Sender {
  const { leases, http, log } = parts;
  const { leaseMs, pollMs, idlePollMs, maxEndpoints, maxAttempts, queuedMs } = { ...defaults, ...options };
  const owner = randomUUID();
  const lanes = new Map<string, Lane>();
  const stopped = new AbortController();
  const running = new Map<Promise<void>, Lane>();
  let wakeUp = Promise.withResolvers<void>();
  let renewedAt = Date.now();
  /** Deliveries in the queues of all lanes. */
  let held = 0;

  const writer = openResultWriter({
    log,
    store: (results) => leases.store(results),
    stored(results, disabled) {
      for (const { uuid, firmUuid, reason } of disabled) {
        log.warn({ webhook_uuid: uuid, firm_uuid: firmUuid, reason }, 'webhook disabled');
        drop(uuid);
      }
      for (const { endpoint, uuid } of results) {
        const lane = lanes.get(endpoint);
        if (lane === undefined) continue;
        lane.known.delete(uuid);
        if (lane.isReading) lane.settled.add(uuid);
        pump(lane);
      }
    },
  });

  function drop(uuid: string): void {
    const lane = lanes.get(uuid);
    if (lane === undefined) return;
    lane.isClosed = true;
    held -= lane.queued.length;
    lane.queued.length = 0;
    lanes.delete(uuid);
  }

  /** Its URL was changed: what was sent to the old one, and not answered, is sent to the new one now. */
  function restart(lane: Lane): void {
    lane.interrupted.abort();
    drop(lane.endpointUuid);
    const anew = new Lane(lane.endpointUuid);
    lanes.set(anew.endpointUuid, anew);
    pump(anew);
  }

  /** Begins as many attempts as the lane may have, and reads more when it runs short. */
  function pump(lane: Lane): void {
    if (stopped.signal.aborted || lane.isClosed || lane.isPaused()) return;
    while (lane.queued.length > 0 && lane.running < lane.concurrency) {
      if (lane.running > 0 && running.size >= maxAttempts) break;
      if (lane.queued[0]!.readAt < Date.now() - queuedMs) {
        // What is being read would be put behind what is dropped here. The end of reading pumps again.
        if (lane.isReading) return;
        held -= lane.queued.length;
        lane.beginAnew();
        break;
      }
      const { delivery } = lane.queued.shift()!;
      held -= 1;
      lane.running += 1;
      const attempted: Promise<void> = attempt(lane, delivery).finally(() => {
        running.delete(attempted);
        lane.running -= 1;
        lane.idleSince = Date.now();
        pump(lane);
      });
      running.set(attempted, lane);
    }
    const limit = lane.room(held);
    if (limit > 0 && !lane.isReading && !lane.isExhausted) void read(lane, limit);
  }

  async function read(lane: Lane, limit: number): Promise<void> {
    lane.isReading = true;
    try {
      const { position } = lane;
      // From the beginning on, the known ones are read again.
      const wanted = position === null ? limit + lane.known.size : limit;
      const due = await leases.due(owner, lane.endpointUuid, position, wanted);
      if (lane.isClosed) return;
      if (due === null) return drop(lane.endpointUuid);
      if (lane.isFor(due.endpoint.url)) lane.endpoint = due.endpoint;
      else return restart(lane);
      const readAt = Date.now();
      for (const delivery of due.deliveries) {
        if (lane.known.has(delivery.uuid) || lane.settled.has(delivery.uuid)) continue;
        lane.known.add(delivery.uuid);
        lane.queued.push({ delivery, readAt });
        held += 1;
      }
      lane.isExhausted = due.deliveries.length < wanted;
      lane.readUpTo(lane.isExhausted ? null : due.last);
      lane.idleSince = Date.now();
    } catch (error) {
      // The next poll reads again.
      lane.isExhausted = true;
      log.error({ err: error }, 'webhook deliveries could not be read');
    } finally {
      lane.isReading = false;
      lane.settled.clear();
    }
    pump(lane);
  }

  async function attempt(lane: Lane, delivery: DueDelivery): Promise<void> {
    const endpoint = lane.endpoint!;
    const seconds = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': delivery.uuid,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures(lane.keysOf(endpoint), delivery.uuid, seconds, delivery.body),
    };
    let answer: Answer;
    try {
      answer = await http.send(endpoint.url, headers, delivery.body, lane.interrupted.signal);
    } catch {
      // The process stops, and another one sends the delivery; or the URL was changed.
      return;
    }
    const { status, error, retryAfterMs, isTimeout } = answer;
    const outcome = error === null ? 'success' : isTimeout ? 'silence' : 'refusal';
    attempts
      .of(error === null ? 'delivered' : status !== null ? 'refused' : isTimeout ? 'timeout' : 'unreachable')
      .add();
    lane.learn(outcome, error === null ? null : retryAfterMs);
    writer.add(resultOf(lane.endpointUuid, delivery, answer));
  }

  async function poll(): Promise<void> {
    const waiting = [...lanes.values()].filter((lane) => lane.isExhausted && !lane.isReading && !lane.isPaused());
    const [acquired, due] = await Promise.all([
      lanes.size < maxEndpoints ? leases.acquire(owner, leaseMs, ACQUIRED_AT_ONCE) : [],
      waiting.length === 0 ? [] : leases.withDue(waiting.map(({ endpointUuid }) => endpointUuid)),
    ]);
    for (const uuid of acquired) lanes.set(uuid, new Lane(uuid));
    for (const uuid of due) {
      const lane = lanes.get(uuid);
      if (lane !== undefined) lane.isExhausted = false;
    }
    for (const lane of lanes.values()) pump(lane);
    if (acquired.length === ACQUIRED_AT_ONCE) wakeUp.resolve();
    await keepLeases();
  }

  async function keepLeases(): Promise<void> {
    if (Date.now() - renewedAt < leaseMs / 3) return;
    renewedAt = Date.now();
    const idle = [...lanes.values()].filter(
      ({ known, isReading, idleSince }) => known.size === 0 && !isReading && idleSince < Date.now() - IDLE_MS,
    );
    for (const { endpointUuid } of idle) drop(endpointUuid);
    if (idle.length > 0) {
      await leases.release(
        owner,
        idle.map(({ endpointUuid }) => endpointUuid),
      );
    }
    if (lanes.size === 0) return;
    const kept = await leases.renew(owner, leaseMs, [...lanes.keys()]);
    for (const [uuid, lane] of lanes) {
      const url = kept.get(uuid);
      if (url === undefined) drop(uuid);
      else if (!lane.isFor(url)) restart(lane);
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        await poll();
      } catch (error) {
        if (!stopped.signal.aborted) log.error({ err: error }, 'webhook deliveries could not be looked for');
      }
      const timer = new AbortController();
      const nextMs = lanes.size === 0 ? idlePollMs : pollMs;
      await Promise.race([pause(nextMs, undefined, { signal: timer.signal }).catch(() => {}), wakeUp.promise]);
      timer.abort();
      wakeUp = Promise.withResolvers();
    }
  }

  const polling = run();

  return {
    wake(endpoints) {
      for (const uuid of endpoints) {
        const lane = lanes.get(uuid);
        if (lane === undefined) {
          wakeUp.resolve();
          continue;
        }
        lane.isExhausted = false;
        pump(lane);
      }
    },
    async close(withinMs) {
      stopped.abort();
      wakeUp.resolve();
      await polling;
      const timer = setTimeout(() => {
        for (const lane of running.values()) lane.interrupted.abort();
      }, withinMs);
      await Promise.allSettled(running.keys());
      clearTimeout(timer);
      await writer.close(WRITE_MS);
      const leased = [...lanes.keys()];
      for (const uuid of leased) drop(uuid);
      await leases.release(owner, leased).catch(() => {});
    },
  };
}

function resultOf(endpoint: string, { uuid, step }: DueDelivery, answer: Answer): AttemptResult {
  const { status: lastStatus, error: lastError, retryAfterMs } = answer;
  const result = { endpoint, uuid, lastStatus, lastError, isGone: lastStatus === GONE };
  if (lastError === null) return { ...result, status: 'delivered', step, nextAt: null };
  const delayMs = result.isGone ? null : pauseMs(step, retryAfterMs);
  if (delayMs === null) return { ...result, status: 'failed', step: step + 1, nextAt: null };
  return { ...result, status: 'pending', step: step + 1, nextAt: new Date(Date.now() + delayMs) };
}
