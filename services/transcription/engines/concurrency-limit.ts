import { Fault } from '@call-analysis/fault';
import pLimit from 'p-limit';

/** Runs tasks with bounded concurrency, first come, first served. */
export function limitConcurrency(limit: number) {
  const enter = pLimit(limit);
  const closed = new AbortController();
  const inProgress = new Set<Promise<unknown>>();

  async function run<Result>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const either = AbortSignal.any([closed.signal, signal]);
    try {
      either.throwIfAborted();
      return await enter(async () => {
        either.throwIfAborted();
        return task(either);
      });
    } catch (error) {
      either.throwIfAborted();
      throw error;
    }
  }

  return {
    /**
     * Runs the task once a slot is free. The task's signal aborts when `signal` does or when the limit is closed. A task
     * whose signal has aborted by the time a slot is free is not started. The promise of an aborted task rejects with the
     * signal's reason, whatever the task itself made of it.
     */
    run<Result>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      const result = run(signal, task);
      inProgress.add(result);
      const remove = () => inProgress.delete(result);
      result.then(remove, remove);
      return result;
    },
    /** Aborts the running tasks, rejects queued and further ones, and resolves when all running tasks have ended. */
    async close() {
      closed.abort(new Fault('unavailable', 'ENGINE_UNAVAILABLE', 'The speech engine has been closed.'));
      await Promise.allSettled(inProgress);
    },
  };
}
