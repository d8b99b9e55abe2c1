import { setTimeout as pause } from 'node:timers/promises';
import type { Send } from '../api-client.ts';

/** On a busy machine, a part may not respond for a while. */
const RETRY_FOR_MS = 120_000;
const DEFAULT_WAIT_MS = 1_000;

/**
 * Retries requests that get 429 or 503, after the time that Retry-After names, for `forMs` in total. Then fails with a
 * sentence. The body must be one that can be sent twice, and the request safe to repeat.
 */
export function retryWhenBusy(send: Send, forMs = RETRY_FOR_MS): Send {
  return async (url, init) => {
    const giveUpAt = performance.now() + forMs;
    for (;;) {
      const response = await send(url, init);
      if (response.status !== 429 && response.status !== 503) return response;
      await response.body?.cancel();
      const waitMs = retryAfterMs(response.headers.get('retry-after'));
      if (performance.now() + waitMs > giveUpAt) throw tooBusy(url, init, response.status, forMs);
      await pause(waitMs, undefined, init.signal === undefined || init.signal === null ? {} : { signal: init.signal });
    }
  };
}

/** The header has seconds. */
function retryAfterMs(retryAfter: string | null): number {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : DEFAULT_WAIT_MS;
}

function tooBusy(url: string, { method = 'GET' }: RequestInit, status: number, forMs: number): Error {
  const request = `${method} ${new URL(url).pathname}`;
  return new Error(
    `${request} was answered with ${status} for ${forMs / 1000} s. Try again when this machine is less busy.`,
  );
}
