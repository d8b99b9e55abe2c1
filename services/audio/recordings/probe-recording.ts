import type { Objects } from '@call-analysis/objects';
import type { RecordingInit } from '@call-analysis/proto/ingest/v1/Recording';
import { inspect, requireStereo } from '@call-analysis/recordings';
import { storedSource } from './stored-source.ts';

/** Inspects a stored recording for the call catalogue. Fault of kind `invalid` when it cannot be transcribed. */
export async function probeRecording(
  objects: Objects,
  stored: { key: string; fileName: string; sizeBytes: number; sha256: Buffer },
): Promise<RecordingInit> {
  const info = await inspect(storedSource(objects, stored.key, stored.sizeBytes), stored.fileName);
  requireStereo(info);
  return {
    object_key: stored.key,
    format: info.format,
    codec: info.codec,
    channels: info.channels,
    sample_rate: Math.round(info.sampleRate),
    duration: info.duration,
    size_bytes: stored.sizeBytes,
    sha256: stored.sha256,
  };
}
