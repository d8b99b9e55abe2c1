import { setTimeout as pause } from 'node:timers/promises';
import { findQueuesWithDueJobs } from './queue-store.ts';
import type { Queues } from './queues.ts';

/** How late a retry or a dead letter can be. */
const EVERY_MS = 1_000;
/** After a failed attempt: by then pg-boss has stored the next state of the job. */
const SOON_MS = 100;

/**
 * Wakes workers for jobs that become due without a notification: retries, dead letters, and jobs that were returned to
 * their queue. One statement looks into all queues of the process, so that no worker has to poll its own.
 */
export interface DueJobs {
  /** Wakes these workers when their queue has a due job, until the returned function is called. */
  watch(queue: string, workers: readonly string[]): () => void;
  /** Looks sooner than usual. */
  lookSoon(): void;
  stop(): Promise<void>;
}

export function watchDueJobs(queues: Queues): DueJobs {
  const workersOf = new Map<string, readonly string[]>();
  const stopping = new AbortController();
  let sooner = new AbortController();

  async function look(): Promise<void> {
    const names = [...workersOf.keys()];
    if (names.length === 0) return;
    for (const name of await findQueuesWithDueJobs(queues, names)) {
      for (const worker of workersOf.get(name) ?? []) queues.boss.notifyWorker(worker);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const signal = AbortSignal.any([stopping.signal, sooner.signal]);
      await pause(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (sooner.signal.aborted) {
        sooner = new AbortController();
        await pause(SOON_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      }
      if (!stopping.signal.aborted) await look().catch(queues.logBackgroundError);
    }
  }

  const running = run();
  return {
    watch(queue, workers) {
      workersOf.set(queue, workers);
      return () => workersOf.delete(queue);
    },
    lookSoon: () => sooner.abort(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
