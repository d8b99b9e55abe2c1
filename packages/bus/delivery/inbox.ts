import { settlesWithin } from '@call-analysis/runtime';
import type { Job } from 'pg-boss';
import type { SubscriptionOptions } from '../port.ts';
import { deadLetterQueueOf } from '../queue/consumer-queue.ts';
import type { DueJobs } from '../queue/due-jobs.ts';
import { BATCH_EVENTS } from '../queue/event-batch.ts';
import { returnJobs } from '../queue/queue-store.ts';
import type { Queues } from '../queue/queues.ts';
import { deliver } from './delivery.ts';
import { type DeadLetterSink, giveUpDeadLetters } from './give-up.ts';
import type { Routes } from './read-event.ts';

/** Notifications wake the workers for new events, and `DueJobs` for others; this is in case both fail. */
const POLL_SECONDS = 300;

export type Inbox = Awaited<ReturnType<typeof openInbox>>;

/** Delivers a consumer's events to its routes until it is stopped. */
export async function openInbox(
  queues: Queues,
  due: DueJobs,
  subscription: SubscriptionOptions,
  sink?: DeadLetterSink,
) {
  const { boss } = queues;
  const { consumer, batchSize = 1, concurrency = 1 } = subscription;
  const routes: Routes = new Map(subscription.routes.map((route) => [route.event.type, route]));
  // Each job may hold a complete delivery. Fetching more of them would leave other workers without work.
  const jobsPerFetch = Math.min(batchSize, BATCH_EVENTS);
  const inProgress = new Set<Job<unknown>>();
  const workers: string[] = [];
  for (let i = 0; i < concurrency; i++) {
    let worker: string | undefined;
    worker = await boss.work(
      consumer,
      {
        batchSize: jobsPerFetch,
        perJobResults: true,
        pollingIntervalSeconds: POLL_SECONDS,
        notifyPollingIntervalSeconds: POLL_SECONDS,
        heartbeatRefreshSeconds: queues.leaseSeconds / 3,
      },
      async (jobs: Job<unknown>[]) => {
        // As many jobs as can be fetched: more may wait, so fetch again without a pause.
        if (jobs.length >= jobsPerFetch && worker !== undefined) boss.notifyWorker(worker);
        for (const job of jobs) inProgress.add(job);
        const fetched = [...jobs];
        try {
          const results = await deliver({ queues, consumer, routes, batchSize }, jobs);
          const status = new Map(results.map((result) => [result.id, result.status]));
          // Completed jobs are removed already. Without them, pg-boss skips a statement that would change nothing.
          jobs.splice(0, jobs.length, ...fetched.filter((job) => (status.get(job.id) ?? 'completed') !== 'completed'));
          if (jobs.length > 0) due.lookSoon();
          const untouched = fetched.filter((job) => !status.has(job.id));
          if (untouched.length > 0) {
            for (const job of untouched) inProgress.delete(job);
            await queues.retryUntilAnswered(() => returnJobs(queues, consumer, untouched));
            if (worker !== undefined) boss.notifyWorker(worker);
          }
          return results;
        } finally {
          for (const job of fetched) inProgress.delete(job);
        }
      },
    );
    workers.push(worker);
  }
  const deadLetterQueue = deadLetterQueueOf(consumer);
  const deadLetterWorker = await giveUpDeadLetters(queues, deadLetterQueue, routes, POLL_SECONDS, sink);
  const stopWatching = [due.watch(consumer, workers), due.watch(deadLetterQueue, [deadLetterWorker])];
  let stopping: Promise<unknown> | undefined;
  let isLate = false;
  return {
    /** `stop` has timed out, and handlers were still running then. */
    get isLate(): boolean {
      return isLate;
    },
    /** The number of jobs that are being handled. */
    get inProgress(): number {
      return inProgress.size;
    },
    async stop(withinMs?: number): Promise<void> {
      for (const stop of stopWatching) stop();
      stopping ??= Promise.all([
        ...workers.map((id) => boss.offWork(consumer, { id, wait: true })),
        boss.offWork(deadLetterQueue, { id: deadLetterWorker, wait: true }),
      ]);
      if (withinMs === undefined) {
        await stopping;
        return;
      }
      isLate = !(await settlesWithin(stopping, withinMs));
    },
    /** Returns the jobs that are being handled to the queue; the attempts do not count. Their handlers go on regardless. */
    async release(): Promise<void> {
      await returnJobs(queues, consumer, [...inProgress]);
    },
  };
}
