import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { counter, type Logger } from '@call-analysis/runtime';
import { signatures } from '../endpoints/endpoint.ts';
import { EndpointQueue } from './endpoint-queue.ts';
import type { Answer, HttpSender } from './http-sender.ts';
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
  deps: { leases: Leases; http: HttpSender; log: Logger },
  options: Partial<SenderOptions> = {},
): Sender {
  const { leases, http, log } = deps;
  const { leaseMs, pollMs, idlePollMs, maxEndpoints, maxAttempts, queuedMs } = { ...defaults, ...options };
  const owner = randomUUID();
  const queues = new Map<string, EndpointQueue>();
  const stopped = new AbortController();
  const running = new Map<Promise<void>, EndpointQueue>();
  let wakeUp = Promise.withResolvers<void>();
  let renewedAt = Date.now();
  /** Deliveries in all queues. */
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
        const queue = queues.get(endpoint);
        if (queue === undefined) continue;
        queue.known.delete(uuid);
        if (queue.isReading) queue.settled.add(uuid);
        pump(queue);
      }
    },
  });

  function drop(uuid: string): void {
    const queue = queues.get(uuid);
    if (queue === undefined) return;
    queue.isClosed = true;
    held -= queue.queued.length;
    queue.queued.length = 0;
    queues.delete(uuid);
  }

  /** Its URL was changed: what was sent to the old one, and not answered, is sent to the new one now. */
  function restart(queue: EndpointQueue): void {
    queue.interrupted.abort();
    drop(queue.endpointUuid);
    const anew = new EndpointQueue(queue.endpointUuid);
    queues.set(anew.endpointUuid, anew);
    pump(anew);
  }

  /** Begins as many attempts as the queue may have, and reads more when it runs short. */
  function pump(queue: EndpointQueue): void {
    if (stopped.signal.aborted || queue.isClosed || queue.isPaused()) return;
    while (queue.queued.length > 0 && queue.running < queue.concurrency) {
      if (queue.running > 0 && running.size >= maxAttempts) break;
      if (queue.queued[0]!.readAt < Date.now() - queuedMs) {
        // What is being read would be put behind what is dropped here. The end of reading pumps again.
        if (queue.isReading) return;
        held -= queue.queued.length;
        queue.beginAnew();
        break;
      }
      const { delivery } = queue.queued.shift()!;
      held -= 1;
      queue.running += 1;
      const attempted: Promise<void> = attempt(queue, delivery).finally(() => {
        running.delete(attempted);
        queue.running -= 1;
        queue.idleSince = Date.now();
        pump(queue);
      });
      running.set(attempted, queue);
    }
    const limit = queue.room(held);
    if (limit > 0 && !queue.isReading && !queue.isExhausted) void read(queue, limit);
  }

  async function read(queue: EndpointQueue, limit: number): Promise<void> {
    queue.isReading = true;
    try {
      const { position } = queue;
      // From the beginning on, the known ones are read again.
      const wanted = position === null ? limit + queue.known.size : limit;
      const due = await leases.due(owner, queue.endpointUuid, position, wanted);
      if (queue.isClosed) return;
      if (due === null) return drop(queue.endpointUuid);
      if (queue.isFor(due.endpoint.url)) queue.endpoint = due.endpoint;
      else return restart(queue);
      const readAt = Date.now();
      for (const delivery of due.deliveries) {
        if (queue.known.has(delivery.uuid) || queue.settled.has(delivery.uuid)) continue;
        queue.known.add(delivery.uuid);
        queue.queued.push({ delivery, readAt });
        held += 1;
      }
      queue.isExhausted = due.deliveries.length < wanted;
      queue.readUpTo(queue.isExhausted ? null : due.last);
      queue.idleSince = Date.now();
    } catch (error) {
      // The next poll reads again.
      queue.isExhausted = true;
      log.error({ err: error }, 'webhook deliveries could not be read');
    } finally {
      queue.isReading = false;
      queue.settled.clear();
    }
    pump(queue);
  }

  async function attempt(queue: EndpointQueue, delivery: DueDelivery): Promise<void> {
    const endpoint = queue.endpoint!;
    const seconds = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': delivery.uuid,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures(queue.keysOf(endpoint), delivery.uuid, seconds, delivery.body),
    };
    let answer: Answer;
    try {
      answer = await http.send(endpoint.url, headers, delivery.body, queue.interrupted.signal);
    } catch {
      // The process stops, and another one sends the delivery; or the URL was changed.
      return;
    }
    const { status, error, retryAfterMs, isTimeout } = answer;
    const outcome = error === null ? 'success' : isTimeout ? 'silence' : 'refusal';
    attempts
      .of(error === null ? 'delivered' : status !== null ? 'refused' : isTimeout ? 'timeout' : 'unreachable')
      .add();
    queue.learn(outcome, error === null ? null : retryAfterMs);
    writer.add(resultOf(queue.endpointUuid, delivery, answer));
  }

  async function poll(): Promise<void> {
    const waiting = [...queues.values()].filter((queue) => queue.isExhausted && !queue.isReading && !queue.isPaused());
    const [acquired, due] = await Promise.all([
      queues.size < maxEndpoints ? leases.acquire(owner, leaseMs, ACQUIRED_AT_ONCE) : [],
      waiting.length === 0 ? [] : leases.withDue(waiting.map(({ endpointUuid }) => endpointUuid)),
    ]);
    for (const uuid of acquired) queues.set(uuid, new EndpointQueue(uuid));
    for (const uuid of due) {
      const queue = queues.get(uuid);
      if (queue !== undefined) queue.isExhausted = false;
    }
    for (const queue of queues.values()) pump(queue);
    if (acquired.length === ACQUIRED_AT_ONCE) wakeUp.resolve();
    await keepLeases();
  }

  async function keepLeases(): Promise<void> {
    if (Date.now() - renewedAt < leaseMs / 3) return;
    renewedAt = Date.now();
    const idle = [...queues.values()].filter(
      ({ known, isReading, idleSince }) => known.size === 0 && !isReading && idleSince < Date.now() - IDLE_MS,
    );
    for (const { endpointUuid } of idle) drop(endpointUuid);
    if (idle.length > 0) {
      await leases.release(
        owner,
        idle.map(({ endpointUuid }) => endpointUuid),
      );
    }
    if (queues.size === 0) return;
    const kept = await leases.renew(owner, leaseMs, [...queues.keys()]);
    for (const [uuid, queue] of queues) {
      const url = kept.get(uuid);
      if (url === undefined) drop(uuid);
      else if (!queue.isFor(url)) restart(queue);
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
      const nextMs = queues.size === 0 ? idlePollMs : pollMs;
      await Promise.race([pause(nextMs, undefined, { signal: timer.signal }).catch(() => {}), wakeUp.promise]);
      timer.abort();
      wakeUp = Promise.withResolvers();
    }
  }

  const polling = run();

  return {
    wake(endpoints) {
      for (const uuid of endpoints) {
        const queue = queues.get(uuid);
        if (queue === undefined) {
          wakeUp.resolve();
          continue;
        }
        queue.isExhausted = false;
        pump(queue);
      }
    },
    async close(withinMs) {
      stopped.abort();
      wakeUp.resolve();
      await polling;
      const timer = setTimeout(() => {
        for (const queue of running.values()) queue.interrupted.abort();
      }, withinMs);
      await Promise.allSettled(running.keys());
      clearTimeout(timer);
      await writer.close(WRITE_MS);
      const leased = [...queues.keys()];
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
