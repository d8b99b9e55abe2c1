import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@call-analysis/testing';
import type { Answer } from '../../api-client.ts';

/** More than anything takes that comes at all, on a machine that does much else besides. */
const NEVER_MS = 150_000;
/** Where the service is killed again and again it may be some minutes until it stays long enough for an answer. */
const NEVER_AMID_KILLS_MS = 500_000;

/** Asks again until the answer is neither false, null nor undefined, and returns it, however long that takes. */
export function eventually<T>(
  check: () => T | Promise<T>,
  everyMs = 20,
): Promise<Exclude<T, false | null | undefined>> {
  return waitUntil(check, { timeoutMs: NEVER_MS, everyMs });
}

/**
 * Like `fetch`, but a 503 is asked again, as api.md has it: a part that stands still for some seconds is given up by those
 * that ask it, whatever the reason. For bodies that can be sent twice.
 */
export async function fetchWhenAvailable(url: string | URL, init?: RequestInit): Promise<Response> {
  const giveUpAt = Date.now() + NEVER_MS;
  for (;;) {
    const response = await fetch(url, init);
    if (response.status !== 503 || Date.now() > giveUpAt) return response;
    await response.body?.cancel();
    await pause(50);
  }
}

/** Tries until it succeeds. */
export async function retryUntilSuccess<Result>(ask: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + NEVER_AMID_KILLS_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}

/** Tries until the service is there to answer; an answer of 500 or above counts as none. */
export function retryUntilAnswered<Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  return retryUntilSuccess(async () => {
    const answer = await ask();
    if (answer.status >= 500) throw new Error(`answered ${answer.status}`);
    return answer;
  });
}
