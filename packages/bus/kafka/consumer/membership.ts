import { setTimeout as pause } from 'node:timers/promises';
import { StartFault } from '@call-analysis/runtime';
import type { Consumer, EachBatchPayload, Kafka as Client } from 'kafkajs';
import type { Log, Kafka } from '../../config.ts';
import { explain, within } from '../connection/explain.ts';
import type { KnownTopics } from '../topics/known-topics.ts';
import { topicOf } from '../topics/topic.ts';

// The time after which others take over from a member that died silently, and for which a group pauses after its only broker
// has died. By default, brokers accept nothing shorter.
export const SESSION_TIMEOUT_MS = 6_000;
const heartbeatInterval = 1_000;
const rebalanceTimeout = 15_000;
/** How long a fetch waits for messages, and so how late a member may notice a rebalance. */
const maxWaitTimeInMs = 500;
const metadataMaxAge = 60_000;
const CONCURRENT_PARTITIONS = 100;
const retry = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 5, restartOnFailure: async () => false };

/** A broker that is starting, or takes groups over from another, refuses members for a while. That is no error yet. */
const JOIN_WITHIN_MS = 10_000;
/** A StartFault counts as solved after this time of reading, because a group may read some partitions and not others. */
const SOLVED_AFTER_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** A member that has neither fetched nor sent a heartbeat for so long is stuck and rejoins. */
const STUCK_AFTER_MS = 30_000;
const LEAVE_WITHIN_MS = 2_000;

export interface MembershipOptions {
  readonly client: Client;
  readonly kafka: Kafka;
  readonly topics: KnownTopics;
  readonly log: Log;
  /** Logs why the group was left; the same error not too often. */
  logBackgroundError(error: unknown): void;
  /** Without the prefix. */
  readonly group: string;
  readonly types: readonly string[];
  /** Where a group starts that has no offsets: at the oldest event, or at the next one. */
  readonly fromBeginning: boolean;
  /** Whether to commit offsets, so that the group continues where it stopped. */
  readonly commits: boolean;
  /** Processes messages of one partition and resolves the offsets of those that need not be read again. */
  onBatch(payload: EachBatchPayload): Promise<void>;
  /** Called after each rebalance. */
  onJoin?(): void;
}

export type Membership = ReturnType<typeof joinGroup>;

/** Makes this process a member of a consumer group: in the background, and again after every failure. Never throws. */
export function joinGroup(options: MembershipOptions) {
  const { client, kafka, topics, log } = options;
  const groupId = `${kafka.prefix}${options.group}`;
  let { types } = options;
  let fault: Error | undefined = new Error(`${groupId} has not joined yet.`);
  let outsideSince: number | undefined;
  let interrupted = new AbortController();
  const closing = new AbortController();
  const running = run();

  async function run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      interrupted = new AbortController();
      const startedAt = Date.now();
      try {
        await session(AbortSignal.any([interrupted.signal, closing.signal]));
      } catch (error) {
        if (closing.signal.aborted) return;
        fault = explain(error, kafka);
        outsideSince ??= startedAt;
        const mayPass = !(fault instanceof StartFault) && Date.now() - outsideSince < JOIN_WITHIN_MS;
        if (mayPass) log.info({ group: groupId, err: fault }, 'Could not join a consumer group yet.');
        else options.logBackgroundError(fault);
        if (Date.now() - startedAt > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
        await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  async function session(signal: AbortSignal): Promise<void> {
    const over = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => over.resolve(), { once: true });
    const reading = [...types];
    await Promise.race([over.promise, topics.ensure(reading)]);
    if (signal.aborted) return;
    const consumer = client.consumer({
      groupId,
      sessionTimeout: SESSION_TIMEOUT_MS,
      heartbeatInterval,
      rebalanceTimeout,
      maxWaitTimeInMs,
      metadataMaxAge,
      allowAutoTopicCreation: false,
      retry,
    });
    const stopWatching = watch(consumer, over.reject);
    try {
      await Promise.race([over.promise, start(consumer, reading)]);
      await over.promise;
    } finally {
      stopWatching();
      // A broker that does not answer removes the member by itself soon enough.
      await within(LEAVE_WITHIN_MS, consumer.disconnect()).catch(() => {});
    }
  }

  async function start(consumer: Consumer, reading: readonly string[]): Promise<void> {
    await consumer.connect();
    await consumer.subscribe({
      topics: reading.map((type) => topicOf(kafka, type)),
      fromBeginning: options.fromBeginning,
    });
    await consumer.run({
      autoCommit: options.commits,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_PARTITIONS,
      eachBatch: (payload) => options.onBatch(payload),
    });
  }

  function watch(consumer: Consumer, fail: (error: Error) => void): () => void {
    const { CRASH, FETCH, GROUP_JOIN, HEARTBEAT } = consumer.events;
    const startedAt = Date.now();
    let lastSign = startedAt;
    const timer = setInterval(() => {
      if (Date.now() - lastSign > STUCK_AFTER_MS)
        fail(new Error(`${groupId} has neither read nor sent a heartbeat for half a minute.`));
    }, heartbeatInterval);
    consumer.on(CRASH, ({ payload }) => fail(payload.error));
    consumer.on(HEARTBEAT, () => {
      lastSign = Date.now();
    });
    consumer.on(FETCH, () => {
      lastSign = Date.now();
      if (fault instanceof StartFault && lastSign - startedAt < SOLVED_AFTER_MS) return;
      // Only now is it known where reading starts.
      fault = undefined;
      outsideSince = undefined;
    });
    consumer.on(GROUP_JOIN, ({ payload }) => {
      lastSign = Date.now();
      options.onJoin?.();
      log.info(
        { group: groupId, partitions: Object.values(payload.memberAssignment).flat().length },
        'Joined a consumer group.',
      );
    });
    return () => clearInterval(timer);
  }

  return {
    /** Why it is not reading now. */
    get fault(): Error | undefined {
      return fault;
    },
    get types(): readonly string[] {
      return types;
    },
    /** Reads these types from now on. */
    change(wanted: readonly string[]): void {
      types = wanted;
      fault = new Error(`${groupId} has not joined yet.`);
      interrupted.abort();
    },
    /** Leaves the group, so that others take over immediately. */
    async close(): Promise<void> {
      closing.abort();
      await running;
    },
  };
}
