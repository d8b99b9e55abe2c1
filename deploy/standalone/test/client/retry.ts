import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@call-analysis/testing';
import type { Answer } from './api-client.ts';

/** Longer than anything takes that succeeds, on a machine that is busy with other work. */
const GIVE_UP_MS = 150_000;
/** While the service is killed repeatedly, it may take minutes until it runs long enough to answer. */
const GIVE_UP_DURING_KILLS_MS = 500_000;

/** Repeats the check until its result is neither false, null nor undefined, and returns the result: `waitUntil`. */
export function eventually<T>(
  check: () => T | Promise<T>,
  everyMs?: number,
): Promise<Exclude<T, false | null | undefined>> {
  return waitUntil(check, { timeoutMs: GIVE_UP_MS, everyMs });
}

/**
 * Like `fetch`, but retries on 503, as docs/api.md, "Errors" tells clients to: on a busy machine a part may not respond for
 * some seconds. The body must be one that can be sent twice.
 */
export async function fetchWhenAvailable(url: string | URL, init?: RequestInit): Promise<Response> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  for (;;) {
    const response = await fetch(url, init);
    if (response.status !== 503 || Date.now() > giveUpAt) return response;
    await response.body?.cancel();
    await pause(50);
  }
}

/** Retries until the action succeeds. */
export async function retryUntilSuccess<Result>(ask: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + GIVE_UP_DURING_KILLS_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}

/** Retries until the service answers with a status below 500. */
export function retryUntilAnswered<Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  return retryUntilSuccess(async () => {
    const answer = await ask();
    if (answer.status >= 500) throw new Error(`answered ${answer.status}`);
    return answer;
  });
}
