import { setTimeout as pause } from 'node:timers/promises';
import type { Objects } from '@call-analysis/objects';
import { removeOldBodies } from './large-bodies.ts';
import type { Log } from '../queue/queues.ts';

const EVERY_MS = 24 * 3600 * 1000;
const AGAIN_MS = 10 * 60 * 1000;
/** Processes that start together do not all list at the same time. */
const SPREAD_MS = 10 * 60 * 1000;

/** Removes bodies that have outlived their facts, once a day and by any number of processes, until it is ended. */
export function tendBodies(
  objects: Objects,
  { afterDays, log }: { readonly afterDays: number; readonly log: Log },
): { end(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  const running = (async () => {
    for (let waitMs = Math.random() * SPREAD_MS; ;) {
      await pause(waitMs, undefined, { signal, ref: false });
      try {
        await removeOldBodies(objects, afterDays, new Date(), signal);
        waitMs = EVERY_MS;
      } catch (error) {
        signal.throwIfAborted();
        log.warn({ err: error }, 'Bodies of facts that have left Kafka could not be removed yet.');
        waitMs = AGAIN_MS;
      }
    }
  })().catch(() => {});
  return {
    async end() {
      ending.abort();
      await running;
    },
  };
}
