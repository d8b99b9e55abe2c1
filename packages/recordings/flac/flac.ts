import { concatChannels } from '../codecs/channels.ts';
import { unreadable } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import type { Frame } from './frame.ts';
import { type FlacStart, frames, lastFrame, readStart } from './stream.ts';

const SAMPLES_PER_PIECE = 4_096;

/** FLAC of 4 to 32 bits. The length is counted from the first frame to the last complete one, as it is decoded. */
export const flac: Container = { format: 'flac', probe, decode };

async function probe(source: Source): Promise<RecordingInfo> {
  const start = await readStart(source);
  const last = await lastFrame(source, start);
  const count = last === null ? await countSamples(source, start) : last.start + last.samples - start.first.start;
  if (count <= 0) throw unreadable('The FLAC file holds no complete frame of audio.');
  const { channels, sampleRate } = start.info;
  return { format: 'flac', codec: 'flac', channels, sampleRate, frames: count, duration: count / sampleRate };
}

async function countSamples(source: Source, start: FlacStart): Promise<number> {
  let count = 0;
  for await (const { header } of frames(source, start)) count += header.samples;
  return count;
}

async function* decode(source: Source): AsyncGenerator<Samples> {
  const start = await readStart(source);
  const { sampleRate } = start.info;
  let empty = true;
  for await (const pieces of grouped(frames(source, start))) {
    empty = false;
    yield { sampleRate, channels: concatChannels(pieces, start.info.channels) };
  }
  if (empty) throw unreadable('The FLAC file holds no complete frame of audio.');
}

/** Groups small frames, which may have only 16 samples: every piece costs the consumer an asynchronous step. */
async function* grouped(all: AsyncIterable<Frame>): AsyncGenerator<(readonly Float32Array[])[]> {
  let pieces: (readonly Float32Array[])[] = [];
  let samples = 0;
  for await (const { header, channels } of all) {
    pieces.push(channels);
    samples += header.samples;
    if (samples < SAMPLES_PER_PIECE) continue;
    yield pieces;
    pieces = [];
    samples = 0;
  }
  if (pieces.length > 0) yield pieces;
}
