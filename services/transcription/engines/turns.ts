import { Fault } from '@call-analysis/fault';

/** Work that waits its turn. */
export interface Turns {
  /**
   * Does the work when its turn has come, first come, first served. The work is told to stop by the signal it is given:
   * when `signal` aborts, or when the turns end. Fails with the reason of the signal when it aborts before the turn.
   */
  take<Result>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Stops the work in hand, refuses what waits and what comes, and resolves when all of it has ended. */
  close(): Promise<void>;
}

/** At most `limit` at the same time. */
export function openTurns(limit: number): Turns {
  const end = new AbortController();
  const inProgress = new Set<Promise<unknown>>();
  const waiting = new Set<() => void>();

  async function myTurn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => {
      // Here and not later, or a turn could still be handed to one who is gone, and would be lost.
      waiting.delete(resolve);
      reject(signal.reason as Error);
    };
    waiting.add(resolve);
    signal.addEventListener('abort', stop);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  let taken = 0;
  function leave(): void {
    taken -= 1;
    for (const next of waiting) {
      // The turn is handed over here and now, or one who comes between could take it too.
      waiting.delete(next);
      taken += 1;
      next();
      return;
    }
  }

  async function take<Result>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    end.signal.throwIfAborted();
    if (taken < limit) taken += 1;
    else await myTurn(signal);
    try {
      signal.throwIfAborted();
      return await work(signal);
    } finally {
      leave();
    }
  }

  /** Takes a turn under a signal that aborts when the caller's does, or when the turns end. */
  async function takeWithin<Result>(
    given: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    // AbortSignal.any would do the same, but leaves its traces in signals that live as long as the service.
    const either = new AbortController();
    const stop = () => either.abort(given.reason);
    const close = () => either.abort(end.signal.reason);
    if (given.aborted) stop();
    given.addEventListener('abort', stop);
    end.signal.addEventListener('abort', close);
    try {
      return await take(either.signal, work);
    } finally {
      given.removeEventListener('abort', stop);
      end.signal.removeEventListener('abort', close);
    }
  }

  return {
    take(signal, work) {
      const result = takeWithin(signal, work);
      inProgress.add(result);
      const forget = () => inProgress.delete(result);
      result.then(forget, forget);
      return result;
    },
    async close() {
      end.abort(new Fault('unavailable', 'ENGINE_UNAVAILABLE', 'The speech engine has been closed.'));
      await Promise.allSettled(inProgress);
    },
  };
}
