import { Unreachable } from './errors.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export interface Sending {
  readonly fetch: typeof fetch;
  /** How often a request that may be repeated is sent again. */
  readonly retries: number;
}

/**
 * Sends a request. 429 and 503 are waited out as `Retry-After` says. A request whose answer is lost is sent again when
 * `isRepeatable`. Rejects with Unreachable, or with the reason of the signal.
 */
export async function sendRequest(
  { fetch, retries }: Sending,
  make: () => Request,
  isRepeatable: boolean,
): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const request = make();
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
    try {
      const response = await fetch(request);
      const isBusy = response.status === 429 || (response.status === 503 && isRepeatable);
      if (!isBusy || attempt >= retries) return response;
      await response.body?.cancel();
      await pause(Math.max(pauseMs, retryAfterMs(response)), request.signal);
    } catch (error) {
      request.signal.throwIfAborted();
      if (!isRepeatable || attempt >= retries) throw new Unreachable(request.url, error);
      await pause(pauseMs, request.signal);
    }
  }
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after'));
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, LONGEST_PAUSE_MS) : 0;
}

/** Rejects with the reason of the signal when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
