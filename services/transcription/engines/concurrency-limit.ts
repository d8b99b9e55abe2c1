import { Fault } from '@call-analysis/fault';
import pLimit from 'p-limit';

/** Runs tasks with bounded concurrency, first come, first served. */
interface ConcurrencyLimit {
  /**
   * Runs the task once a slot is free. The task's signal aborts when `signal` does or when the limit is closed. A task
   * whose signal has aborted by the time a slot is free is not started. The promise of an aborted task rejects with the signal's
   * reason, whatever the task itself made of it.
   */
  run<Result>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Aborts the running tasks, rejects queued and further ones, and resolves when all running tasks have ended. */
  close(): Promise<void>;
}

export function limitConcurrency(limit: number): ConcurrencyLimit {
  const enter = pLimit(limit);
  const closed = new AbortController();
  const inProgress = new Set<Promise<unknown>>();

  async function run<Result>(signal: AbortSignal, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    // AbortSignal.any retains about 1 KB per use in signals that live as long as the service (Node 24.9).
    const either = new AbortController();
    const abort = () => either.abort(signal.reason);
    const close = () => either.abort(closed.signal.reason);
    if (closed.signal.aborted) close();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    closed.signal.addEventListener('abort', close);
    try {
      either.signal.throwIfAborted();
      return await enter(async () => {
        either.signal.throwIfAborted();
        return task(either.signal);
      });
    } catch (error) {
      either.signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      closed.signal.removeEventListener('abort', close);
    }
  }

  return {
    run(signal, task) {
      const result = run(signal, task);
      inProgress.add(result);
      const remove = () => inProgress.delete(result);
      result.then(remove, remove);
      return result;
    },
    async close() {
      closed.abort(new Fault('unavailable', 'ENGINE_UNAVAILABLE', 'The speech engine has been closed.'));
      await Promise.allSettled(inProgress);
    },
  };
}
