import { setTimeout as pause } from 'node:timers/promises';
import type { Send } from '../api-client.ts';

/** On a machine that is busy with much else a part may stand still for a while. */
const PATIENCE_MS = 120_000;
const USUAL_WAIT_MS = 1_000;

/**
 * Sends again whatever is answered with 429 or 503, when the answer says that it may come again, for `forMs` in all;
 * then fails with a sentence. For bodies that can be sent twice, and requests that may be.
 */
export function retryWhenBusy(send: Send, forMs = PATIENCE_MS): Send {
  return async (url, init) => {
    const giveUpAt = performance.now() + forMs;
    for (;;) {
      const response = await send(url, init);
      if (response.status !== 429 && response.status !== 503) return response;
      await response.body?.cancel();
      const waitMs = askedFor(response.headers.get('retry-after'));
      if (performance.now() + waitMs > giveUpAt) throw tooBusy(url, init, response.status, forMs);
      await pause(waitMs, undefined, init.signal === undefined || init.signal === null ? {} : { signal: init.signal });
    }
  };
}

/** Milliseconds, of a header that tells seconds. */
function askedFor(retryAfter: string | null): number {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : USUAL_WAIT_MS;
}

function tooBusy(url: string, { method = 'GET' }: RequestInit, status: number, forMs: number): Error {
  const asked = `${method} ${new URL(url).pathname}`;
  return new Error(
    `${asked} was answered with ${status} for ${forMs / 1000} s. Try again when this machine has less to do.`,
  );
}
