import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';

const LARGE_BODIES = 'facts/';
const DAY_MS = 24 * 3600 * 1000;

/** Where the body of an event lies that is too large to travel; every service reads it there. */
export function largeBodyKey(event: Event): string {
  return `${largeBodiesOf(event.firmuuid, event.subject)}${event.id}`;
}

/** Removes what large events of a subject have left in the store, and says how many files that were. */
export async function removeLargeBodies(objects: Objects, firmUuid: string, subject: string): Promise<number> {
  const keys: string[] = [];
  for await (const { key } of objects.list(largeBodiesOf(firmUuid, subject))) keys.push(key);
  for (const key of keys) await objects.remove(key);
  return keys.length;
}

/**
 * Removes what was put so many days ago: the facts whose bodies these are have left Kafka. A store that does so by itself
 * is told to, and nothing is listed.
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

function largeBodiesOf(firmUuid: string, subject: string): string {
  return `${LARGE_BODIES}${firmUuid}/${encodeURIComponent(subject)}/`;
}
