import { setTimeout as pause } from 'node:timers/promises';
import { findWaitingQueues } from './queue-store.ts';
import type { Queues } from './queues.ts';

/** How late a retry or a dead letter can be. */
const EVERY_MS = 1_000;
/** The same while no job waits: for what another process returns to a queue, and for events whose notification was lost. */
const IDLE_MS = 5_000;
/** After a failed attempt: by then pg-boss has stored the next state of the job. */
const SOON_MS = 100;

export type DueJobs = ReturnType<typeof watchDueJobs>;

/**
 * Wakes workers for jobs that become due without a notification: retries, dead letters, and jobs that were returned to
 * their queue. One statement looks into all queues of the process, so that no worker has to poll its own.
 */
export function watchDueJobs(queues: Queues) {
  const workersOf = new Map<string, readonly string[]>();
  const stopping = new AbortController();
  let sooner = new AbortController();

  /** Returns whether any job waits. */
  async function look(): Promise<boolean> {
    const waiting = await findWaitingQueues(queues, [...workersOf.keys()]);
    for (const { name, isDue } of waiting) {
      if (isDue) for (const worker of workersOf.get(name) ?? []) queues.boss.notifyWorker(worker);
    }
    return waiting.length > 0;
  }

  async function run(): Promise<void> {
    let isIdle = false;
    while (!stopping.signal.aborted) {
      const signal = AbortSignal.any([stopping.signal, sooner.signal]);
      await pause(isIdle ? IDLE_MS : EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
      const wasSooner = sooner.signal.aborted;
      if (wasSooner) {
        sooner = new AbortController();
        await pause(SOON_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      }
      if (stopping.signal.aborted) return;
      try {
        // What is looked for may be stored only after this.
        isIdle = !(await look()) && !wasSooner;
      } catch (error) {
        isIdle = false;
        queues.logBackgroundError(error);
      }
    }
  }

  const running = run();
  return {
    /** Wakes these workers when their queue has a due job, until the returned function is called. */
    watch(queue: string, workers: readonly string[]): () => void {
      workersOf.set(queue, workers);
      return () => workersOf.delete(queue);
    },
    /** Looks sooner than usual. */
    lookSoon: () => sooner.abort(),
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
