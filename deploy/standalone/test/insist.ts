import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './client.ts';

/** Tries until it succeeds. */
export async function insist<Result>(ask: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + 120_000;
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
export function insistOnAnswer<Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  return insist(async () => {
    const answer = await ask();
    if (answer.status >= 500) throw new Error(`answered ${answer.status}`);
    return answer;
  });
}
