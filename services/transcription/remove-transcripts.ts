import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';

/** Those that were too long for an event. */
export async function removeTranscripts(objects: Objects, { firmuuid, subject }: Event): Promise<void> {
  for await (const { key } of objects.list(`transcripts/${firmuuid}/${subject}/`)) await objects.remove(key);
}
