import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './client.ts';

/** Tries until the service is there to answer; an answer of 500 or above counts as none. */
export async function insist<Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      const answer = await ask();
      if (answer.status < 500) return answer;
      throw new Error(`answered ${answer.status}`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}
