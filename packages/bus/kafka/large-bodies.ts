import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Log } from '../config.ts';

/** The bytes of JSON from which a body travels by object key. */
export const LARGE_BODY_BYTES = 700_000;

const LARGE_BODIES = 'facts/';
const DAY_MS = 24 * 3600 * 1000;
const RETRY_MS = 10 * 60 * 1000;
/** Processes that start together should not all list the store at the same time. */
const SPREAD_MS = 10 * 60 * 1000;

/** The object key of an event's body. */
export function largeBodyKey(event: Event): string {
  return `${folderOf(event.firmuuid, event.subject)}${event.id}`;
}

/** Removes the large bodies of a firm's events about a subject and returns how many there were. */
export async function removeLargeBodies(objects: Objects, firmUuid: string, subject: string): Promise<number> {
  const keys: string[] = [];
  for await (const { key } of objects.list(folderOf(firmUuid, subject))) keys.push(key);
  for (const key of keys) await objects.remove(key);
  return keys.length;
}

/**
 * Removes bodies older than this many days: their events are no longer in Kafka. If the store supports expiry rules, it
 * gets one instead, and nothing is listed.
 */
export async function removeOldBodies(
  objects: Objects,
  afterDays: number,
  now: Date,
  signal?: AbortSignal,
): Promise<void> {
  if (await objects.expire(LARGE_BODIES, afterDays)) return;
  const before = now.getTime() - afterDays * DAY_MS;
  for await (const { key, modifiedAt } of objects.list(LARGE_BODIES)) {
    signal?.throwIfAborted();
    if (modifiedAt.getTime() < before) await objects.remove(key);
  }
}

/** Calls `removeOldBodies` once a day until it is stopped. Several processes may do so at the same time. */
export function startRemovingOldBodies(
  objects: Objects,
  { afterDays, log }: { readonly afterDays: number; readonly log: Log },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    for (let waitMs = Math.random() * SPREAD_MS; ;) {
      await pause(waitMs, undefined, { signal, ref: false });
      try {
        await removeOldBodies(objects, afterDays, new Date(), signal);
        waitMs = DAY_MS;
      } catch (error) {
        signal.throwIfAborted();
        log.warn({ err: error }, 'Bodies of events that are no longer in Kafka could not be removed yet.');
        waitMs = RETRY_MS;
      }
    }
  })().catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function folderOf(firmUuid: string, subject: string): string {
  return `${LARGE_BODIES}${firmUuid}/${encodeURIComponent(subject)}/`;
}
