import type { Event } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { type Format, FORMATS } from '@call-analysis/recordings';

/** Consists of uuids and one of six extensions: nothing that a user chose gets into the object store as a key. */
export function recordingKey(firmUuid: string, callUuid: string, format: Format): string {
  return `recordings/${firmUuid}/${callUuid}.${format}`;
}

export const UPLOADING = 'uploading/';

/** The marker of an upload in progress. The sweep lists only markers to find uploads that were broken off. */
export function markerKey(recordingKey: string): string {
  return recordingKey.replace(/^recordings\//, UPLOADING);
}

/** The recording that a marker belongs to. Null for a key that is no marker. */
export function readMarker(key: string): { firmUuid: string; callUuid: string; recordingKey: string } | null {
  const [, firmUuid, callUuid] = /^uploading\/([^/]+)\/([^/.]+)\.[a-z0-9]+$/.exec(key) ?? [];
  if (firmUuid === undefined || callUuid === undefined) return null;
  return { firmUuid, callUuid, recordingKey: key.replace(UPLOADING, 'recordings/') };
}

/** The copy of a recording that browsers play. */
export function playableKey(firmUuid: string, callUuid: string): string {
  return `playback/${firmUuid}/${callUuid}.wav`;
}

/** The peaks of a recording, as JSON. */
export function waveformKey(firmUuid: string, callUuid: string): string {
  return `playback/${firmUuid}/${callUuid}.json`;
}

/** Marks that a playback is being made. */
export function playbackMarkerKey(firmUuid: string, callUuid: string): string {
  return `${UPLOADING}${firmUuid}/${callUuid}.playback`;
}

/** Where the objects of a firm are, the markers last. */
export function foldersOf(firmUuid: string): string[] {
  return [`playback/${firmUuid}/`, `recordings/${firmUuid}/`, `${UPLOADING}${firmUuid}/`];
}

/** The marker goes last, as with recordings. */
export async function removePlayback(objects: Objects, firmUuid: string, callUuid: string): Promise<void> {
  await objects.remove(waveformKey(firmUuid, callUuid));
  await objects.remove(playableKey(firmUuid, callUuid));
  await objects.remove(playbackMarkerKey(firmUuid, callUuid));
}

/**
 * Removes the recording of the event's call in any format, and then what was made of it to play it: who makes that now looks
 * for the recording afterwards. Markers go last: the sweep finds what they still mark.
 */
export async function removeRecording(
  objects: Objects,
  { firmuuid, subject }: Pick<Event, 'firmuuid' | 'subject'>,
): Promise<void> {
  for (const format of FORMATS) {
    const key = recordingKey(firmuuid, subject, format);
    await objects.remove(key);
    await objects.remove(markerKey(key));
  }
  await removePlayback(objects, firmuuid, subject);
}
