import {
  AudioExtractionRequested,
  AudioStored,
  type BodyOf,
  createEvent,
  type Event,
  type EventOrigin,
} from '@call-analysis/events';
import type { Archive, ArchivedCall, Recording, StoredRecording } from '../store/index.ts';

/** Asks for the recording of a call to be taken out of its archive. */
export function extractionRequested(
  call: Omit<ArchivedCall, 'priority'>,
  archive: Archive,
  about: EventOrigin,
): Event<BodyOf<typeof AudioExtractionRequested>> {
  return createEvent('ingest', AudioExtractionRequested, call.uuid, about, {
    attempt: call.attempt,
    archive_key: archive.key,
    archive_bytes: archive.bytes,
    file_name: call.fileName,
    entry: call.entry,
  });
}

/** Tells that the recording of a call can be heard. */
export function audioStored(
  call: { readonly uuid: string; readonly attempt: number; readonly segmentType: string },
  sides: Pick<Recording, 'left' | 'right'>,
  stored: StoredRecording,
  about: EventOrigin,
): Event<BodyOf<typeof AudioStored>> {
  return createEvent('ingest', AudioStored, call.uuid, about, {
    attempt: call.attempt,
    key: stored.objectKey,
    format: stored.format,
    channels: stored.channels,
    sample_rate: stored.sampleRate,
    duration: stored.duration,
    size_bytes: stored.sizeBytes,
    left: sides.left,
    right: sides.right,
    segment_type: call.segmentType,
  });
}
