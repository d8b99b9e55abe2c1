import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from 'pg-boss';
import { type DeadLetterSink, deadQueue, giveUpDead } from './give-up.ts';
import { HandOver } from './delivery.ts';
import { watchLeases } from '../queue/leases.ts';
import { PARCEL } from '../queue/event-batch.ts';
import type { Subscription, SubscriptionOptions } from '../port.ts';
import { putBack } from '../put-back.ts';
import type { Queues } from '../queue/queues.ts';
import type { Routes } from './read-event.ts';

// How late a retry may be: new events wake the worker, due retries do not.
const pollSeconds = 1;
const daySeconds = 86_400;
const longestWaitSeconds = 10 * 365 * daySeconds;
const deadLettersKeptSeconds = 30 * daySeconds;
const longestInt = 2 ** 31 - 1;

export interface Inbox extends Subscription {
  /** Stopped before, and what it had in hand did not end in time. */
  readonly isLate: boolean;
  /** Hand-overs that have not ended. */
  readonly inProgress: number;
  /** Puts back what is still in hand, as if it had never been taken. Its handlers are on their own then. */
  release(): Promise<void>;
}

/** Makes the queue and the dead letters of a consumer, or gives existing ones their present options. */
export async function createInbox({ boss, leaseSeconds }: Queues, subscription: SubscriptionOptions): Promise<void> {
  const { consumer, retries = 5, retryDelaySeconds = 1 } = subscription;
  const dead = deadQueue(consumer);
  const lasting = {
    // The lease is the heartbeat; this only bounds a handler that hangs.
    expireInSeconds: daySeconds,
    heartbeatSeconds: leaseSeconds,
    retentionSeconds: longestWaitSeconds,
    // A backlog is how a batch looks, not a reason to warn.
    warningQueueSize: longestInt,
  };
  const deadOptions = {
    ...lasting,
    retryLimit: longestInt,
    retryDelay: 1,
    retryBackoff: true,
    deleteAfterSeconds: deadLettersKeptSeconds,
  };
  const options = {
    ...lasting,
    deadLetter: dead,
    notify: true,
    retryLimit: retries,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
  };
  await boss.createQueue(dead, deadOptions);
  await boss.createQueue(consumer, options);
  await boss.updateQueue(dead, deadOptions);
  await boss.updateQueue(consumer, options);
}

/** Hands a consumer's events to its routes until stopped. */
export async function openInbox(
  queues: Queues,
  subscription: SubscriptionOptions,
  sink?: DeadLetterSink,
): Promise<Inbox> {
  const { boss } = queues;
  const { consumer, batchSize = 1, concurrency = 1 } = subscription;
  const routes: Routes = new Map(subscription.routes.map((route) => [route.event.type, route]));
  // Each may hold as many events as are handed over at once: with more of them, others would find nothing to do.
  const jobsAtOnce = Math.min(batchSize, PARCEL);
  const inProgress = new Set<Job<unknown>>();
  const workers: string[] = [];
  for (let i = 0; i < concurrency; i++) {
    let worker: string | undefined;
    worker = await boss.work(
      consumer,
      {
        batchSize: jobsAtOnce,
        perJobResults: true,
        pollingIntervalSeconds: pollSeconds,
        notifyPollingIntervalSeconds: pollSeconds,
        heartbeatRefreshSeconds: queues.leaseSeconds / 3,
      },
      async (jobs: Job<unknown>[]) => {
        // A full hand means that more may wait: look again without a pause.
        if (jobs.length >= jobsAtOnce && worker !== undefined) boss.notifyWorker(worker);
        for (const job of jobs) inProgress.add(job);
        const taken = [...jobs];
        try {
          const results = await new HandOver(queues, consumer, routes, batchSize).run(jobs);
          const status = new Map(results.map((result) => [result.id, result.status]));
          // What is done has been noted already; taken out, it saves pg-boss a statement that would change nothing.
          jobs.splice(0, jobs.length, ...taken.filter((job) => (status.get(job.id) ?? 'completed') !== 'completed'));
          const untouched = taken.filter((job) => !status.has(job.id));
          if (untouched.length > 0) {
            for (const job of untouched) inProgress.delete(job);
            await queues.insist(() => putBack(queues, consumer, untouched));
            if (worker !== undefined) boss.notifyWorker(worker);
          }
          return results;
        } finally {
          for (const job of taken) inProgress.delete(job);
        }
      },
    );
    workers.push(worker);
  }
  const dead = deadQueue(consumer);
  const deadWorker = await giveUpDead(queues, dead, routes, sink);
  const watch = watchLeases(queues, [consumer, dead]);
  let stopping: Promise<unknown> | undefined;
  let isLate = false;
  return {
    get isLate() {
      return isLate;
    },
    get inProgress() {
      return inProgress.size;
    },
    async stop(withinMs) {
      stopping ??= Promise.all([
        ...workers.map((id) => boss.offWork(consumer, { id, wait: true })),
        boss.offWork(dead, { id: deadWorker, wait: true }),
        watch.stop(),
      ]);
      if (withinMs === undefined) {
        await stopping;
        return;
      }
      const over = new AbortController();
      const late = pause(withinMs, true, { signal: over.signal }).catch(() => false);
      isLate = await Promise.race([stopping.then(() => false), late]).finally(() => over.abort());
    },
    async release() {
      await putBack(queues, consumer, [...inProgress]);
    },
  };
}
