import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';

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

function largeBodiesOf(firmUuid: string, subject: string): string {
  return `facts/${firmUuid}/${encodeURIComponent(subject)}/`;
}
