import { unreadable } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import type { Frame } from './frame.ts';
import { joined } from './joined.ts';
import { frames, lastFrame, opening, type Opening } from './stream.ts';

const SAMPLES_AT_ONCE = 4_096;

/**
 * FLAC of 4 to 32 bits. Its length is always that of what decoding gives: from the first frame to the last whole one.
 */
export const flac: Container = { format: 'flac', probe, decode };

async function probe(source: Source): Promise<RecordingInfo> {
  const open = await opening(source);
  const last = await lastFrame(source, open);
  const count = last === null ? await countSamples(source, open) : last.start + last.samples - open.first.start;
  if (count <= 0) throw unreadable('The FLAC holds not one whole frame of sound.');
  const { channels, sampleRate } = open.info;
  return { format: 'flac', codec: 'flac', channels, sampleRate, frames: count, duration: count / sampleRate };
}

async function countSamples(source: Source, open: Opening): Promise<number> {
  let count = 0;
  for await (const { header } of frames(source, open)) count += header.samples;
  return count;
}

async function* decode(source: Source): AsyncGenerator<Samples> {
  const open = await opening(source);
  const { sampleRate } = open.info;
  let empty = true;
  for await (const pieces of together(frames(source, open))) {
    empty = false;
    yield { sampleRate, channels: joined(pieces, open.info.channels) };
  }
  if (empty) throw unreadable('The FLAC holds not one whole frame of sound.');
}

/** Frames may be as small as 16 samples, and each piece costs its reader a turn. */
async function* together(all: AsyncIterable<Frame>): AsyncGenerator<(readonly Float32Array[])[]> {
  let pieces: (readonly Float32Array[])[] = [];
  let samples = 0;
  for await (const { header, channels } of all) {
    pieces.push(channels);
    samples += header.samples;
    if (samples < SAMPLES_AT_ONCE) continue;
    yield pieces;
    pieces = [];
    samples = 0;
  }
  if (pieces.length > 0) yield pieces;
}
