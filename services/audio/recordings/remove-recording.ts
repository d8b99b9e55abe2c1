import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { markerKey, recordingKeys } from './object-keys.ts';

/** The marker goes last: while it stands, the sweep looks after the recording. */
export async function removeRecording(objects: Objects, { firmuuid, subject }: Event): Promise<void> {
  for (const key of recordingKeys(firmuuid, subject)) {
    await objects.remove(key);
    await objects.remove(markerKey(key));
  }
}
