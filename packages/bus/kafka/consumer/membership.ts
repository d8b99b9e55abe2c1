import { setTimeout as pause } from 'node:timers/promises';
import { StartFault } from '@call-analysis/runtime';
import type { Consumer, EachBatchPayload, Kafka as Client } from 'kafkajs';
import type { Log } from '../../queue/queues.ts';
import type { Kafka } from '../config.ts';
import { explain } from '../connection/explain.ts';
import type { KnownTopics } from '../topics/known-topics.ts';
import { topicOf } from '../topics/topics.ts';
import { within } from '../connection/within.ts';

// Whoever dies without a word is missed after so long, and others read what it had been given; so long, too, a group
// stands still after its only broker has died. Brokers take no less unless they are told to.
const sessionTimeout = 6_000;
const heartbeatInterval = 1_000;
const rebalanceTimeout = 15_000;
/** How long an answer waits for news, and therefore how late a member may notice that others have come or gone. */
const maxWaitTimeInMs = 500;
const metadataMaxAge = 60_000;
const partitionsAtOnce = 100;
const retry = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5, restartOnFailure: async () => false };

/** A broker that has just begun, or takes groups over from another, is not ready for them; that passes by itself. */
const patienceMs = 10_000;
/** What only an operator can mend counts as mended after so long of reading: one partition stops a group that reads others. */
const mendedAfterMs = 10_000;
const firstPauseMs = 250;
const longestPauseMs = 5_000;
/** A member that neither reads nor tells the group that it lives for so long has got stuck, and begins anew. */
const silentMs = 30_000;
const leaveWithinMs = 2_000;

export interface MembershipOptions {
  readonly client: Client;
  readonly kafka: Kafka;
  readonly topics: KnownTopics;
  readonly log: Log;
  /** Says why a group was left, and the same thing not too often. */
  complain(error: unknown): void;
  /** Without the prefix. */
  readonly group: string;
  readonly types: readonly string[];
  /** Where a group begins that has never read: at the first event there is, or at the next one. */
  readonly fromBeginning: boolean;
  /** Whether the group goes on where it has stopped. */
  readonly commits: boolean;
  /** Takes what was read of one partition, and resolves the offsets of what need not be read again. */
  take(read: EachBatchPayload): Promise<void>;
  /** The group has shared its partitions out anew. */
  joined?(): void;
}

/** One process in one consumer group, for as long as it lives. */
export interface Membership {
  /** Why it is not reading now. */
  readonly fault: Error | undefined;
  readonly types: readonly string[];
  /** Reads these from now on. */
  change(types: readonly string[]): void;
  /** Leaves the group, so that others take over at once. */
  close(): Promise<void>;
}

/** Joins in the background and again after every failure; it never throws. */
export function join(options: MembershipOptions): Membership {
  const { client, kafka, topics, log } = options;
  const groupId = `${kafka.prefix}${options.group}`;
  let { types } = options;
  let fault: Error | undefined = new Error(`${groupId} has not joined yet.`);
  let outOfItSince: number | undefined;
  let interrupted = new AbortController();
  const ending = new AbortController();
  const running = live();

  async function live(): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!ending.signal.aborted) {
      interrupted = new AbortController();
      const began = Date.now();
      try {
        await session(AbortSignal.any([interrupted.signal, ending.signal]));
      } catch (error) {
        if (ending.signal.aborted) return;
        fault = explain(error, kafka);
        outOfItSince ??= began;
        const mayPass = !(fault instanceof StartFault) && Date.now() - outOfItSince < patienceMs;
        if (mayPass) log.info({ group: groupId, err: fault }, 'Could not join a consumer group yet.');
        else options.complain(fault);
        if (Date.now() - began > longestPauseMs) pauseMs = firstPauseMs;
        await pause(pauseMs, undefined, { signal: ending.signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
    }
  }

  async function session(signal: AbortSignal): Promise<void> {
    const over = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => over.resolve(), { once: true });
    const reading = [...types];
    await Promise.race([over.promise, topics.have(reading)]);
    if (signal.aborted) return;
    const consumer = client.consumer({
      groupId,
      sessionTimeout,
      heartbeatInterval,
      rebalanceTimeout,
      maxWaitTimeInMs,
      metadataMaxAge,
      allowAutoTopicCreation: false,
      retry,
    });
    const stopWatching = watch(consumer, over.reject);
    try {
      await Promise.race([over.promise, begin(consumer, reading)]);
      await over.promise;
    } finally {
      stopWatching();
      await leave(consumer);
    }
  }

  async function begin(consumer: Consumer, reading: readonly string[]): Promise<void> {
    await consumer.connect();
    await consumer.subscribe({
      topics: reading.map((type) => topicOf(kafka, type)),
      fromBeginning: options.fromBeginning,
    });
    await consumer.run({
      autoCommit: options.commits,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: partitionsAtOnce,
      eachBatch: (read) => options.take(read),
    });
  }

  function watch(consumer: Consumer, fail: (error: Error) => void): () => void {
    const { CRASH, FETCH, GROUP_JOIN, HEARTBEAT } = consumer.events;
    const began = Date.now();
    let lastSign = began;
    const timer = setInterval(() => {
      if (Date.now() - lastSign > silentMs)
        fail(new Error(`${groupId} has neither read nor been heard of for half a minute.`));
    }, heartbeatInterval);
    consumer.on(CRASH, ({ payload }) => fail(payload.error));
    consumer.on(HEARTBEAT, () => {
      lastSign = Date.now();
    });
    consumer.on(FETCH, () => {
      lastSign = Date.now();
      if (fault instanceof StartFault && lastSign - began < mendedAfterMs) return;
      // Until the first answer nobody knows where reading begins.
      fault = undefined;
      outOfItSince = undefined;
    });
    consumer.on(GROUP_JOIN, ({ payload }) => {
      lastSign = Date.now();
      options.joined?.();
      log.info(
        { group: groupId, partitions: Object.values(payload.memberAssignment).flat().length },
        'Joined a consumer group.',
      );
    });
    return () => clearInterval(timer);
  }

  return {
    get fault() {
      return fault;
    },
    get types() {
      return types;
    },
    change(wanted) {
      types = wanted;
      fault = new Error(`${groupId} has not joined yet.`);
      interrupted.abort();
    },
    async close() {
      ending.abort();
      await running;
    },
  };
}

/** A broker that does not answer misses the member soon enough by itself. */
async function leave(consumer: Consumer): Promise<void> {
  await within(leaveWithinMs, consumer.disconnect()).catch(() => {});
}
