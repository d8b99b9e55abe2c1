import { type Format, FORMATS } from '@call-analysis/recordings';

/** Made of uuids and one of six words: no name that anyone has chosen reaches a store. */
export function recordingKey(firmUuid: string, callUuid: string, format: Format): string {
  return `recordings/${firmUuid}/${callUuid}.${format}`;
}

/** Where the recording of a call may stand. */
export function recordingKeys(firmUuid: string, callUuid: string): string[] {
  return FORMATS.map((format) => recordingKey(firmUuid, callUuid, format));
}

export const UPLOADING = 'uploading/';

/** Stands while an upload is under way, so that the sweep need look at nothing else to find one that was broken off. */
export function markerKey(recordingKey: string): string {
  return recordingKey.replace(/^recordings\//, UPLOADING);
}

/** Whose recording a marker announces; null for a key that is no marker. */
export function readMarker(key: string): { firmUuid: string; callUuid: string; recordingKey: string } | null {
  const [, firmUuid, callUuid] = /^uploading\/([^/]+)\/([^/.]+)\.[a-z0-9]+$/.exec(key) ?? [];
  if (firmUuid === undefined || callUuid === undefined) return null;
  return { firmUuid, callUuid, recordingKey: key.replace(UPLOADING, 'recordings/') };
}
