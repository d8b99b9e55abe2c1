import { buffer } from 'node:stream/consumers';
import type { Objects } from '@call-analysis/objects';
import type { RecordingInit } from '@call-analysis/proto/ingest/v1/Recording';
import { inspect, requireStereo, type Source } from '@call-analysis/recordings';

/** A reader of headers asks for a few bytes at a time, and most of the next ones are in the same block. */
const BLOCK_BYTES = 16 * 1024;
const MAX_BLOCKS = 16;

/** A stored recording that is read by ranges. The last blocks are cached. */
export function storedSource(objects: Objects, key: string, sizeBytes: number): Source {
  /** The least recently used block comes first. */
  const blocks = new Map<number, Buffer>();

  const fetch = async (start: number, end: number): Promise<Buffer> =>
    buffer(await objects.open(key, { start, end: end - 1 }));

  async function block(index: number): Promise<Buffer> {
    const start = index * BLOCK_BYTES;
    const bytes = blocks.get(index) ?? (await fetch(start, Math.min(start + BLOCK_BYTES, sizeBytes)));
    blocks.delete(index);
    blocks.set(index, bytes);
    const [oldest] = blocks.keys();
    if (blocks.size > MAX_BLOCKS && oldest !== undefined) blocks.delete(oldest);
    return bytes;
  }

  return {
    sizeBytes,
    async read(start, end) {
      const to = Math.min(end, sizeBytes);
      if (start >= to) return new Uint8Array();
      if (to - start > BLOCK_BYTES) return fetch(start, to);
      const first = Math.floor(start / BLOCK_BYTES);
      const last = Math.floor((to - 1) / BLOCK_BYTES);
      const pieces = [await block(first)];
      if (last > first) pieces.push(await block(last));
      const from = start - first * BLOCK_BYTES;
      const joined = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      return joined.subarray(from, from + (to - start));
    },
    async *stream(start) {
      if (start < sizeBytes) yield* (await objects.open(key, { start })) as AsyncIterable<Buffer>;
    },
  };
}

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
