import { MPEGDecoder } from 'mpg123-decoder';
import { clip } from '../clip.ts';
import { unreadable } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import { opening, type Opening, runs } from './frames.ts';
import { framesByTag, lengthOf, paddingOf } from './length.ts';

/**
 * MP3, which is MPEG-1, -2 and -2.5 audio of layer III, with any tags. The length is the encoder's own where its tag
 * agrees with the file's size (and differs from what decoding gives only when that tag lies); otherwise the frames are
 * counted, through the whole file.
 */
export const mp3: Container = { format: 'mp3', probe, decode };

async function probe(source: Source): Promise<RecordingInfo> {
  const open = await opening(source);
  const { frames } = lengthOf(open, framesByTag(open) ?? (await countFrames(source, open)));
  if (frames === 0) throw unreadable('The MP3 holds not one sample of sound.');
  const { channels, sampleRate } = open.header;
  return { format: 'mp3', codec: 'mp3', channels, sampleRate, frames, duration: frames / sampleRate };
}

async function countFrames(source: Source, open: Opening): Promise<number> {
  let count = 0;
  for await (const run of runs(source, open)) count += run.frames;
  return count;
}

async function* decode(source: Source): AsyncGenerator<Samples> {
  const open = await opening(source);
  const { sampleRate, channels } = open.header;
  // Trimming is ours: the decoder trusts the encoder's tag even when the file was cut.
  const decoder = new MPEGDecoder({ enableGapless: false });
  await decoder.ready;
  const { skip } = lengthOf(open, 0);
  const padding = paddingOf(open.tag);
  // The end is held back, because whether it is padding shows only when no frame follows.
  const held: Float32Array[][] = [];
  let heldSamples = 0;
  let skipped = 0;
  let given = 0;
  let found = 0;
  try {
    for await (const run of runs(source, open)) {
      found += run.frames;
      const decoded = decoder.decode(run.bytes);
      if (decoded.errors.length > 0 || decoded.samplesDecoded !== run.frames * open.header.samples) {
        throw unreadable('The MP3 is broken in the middle: a frame of it cannot be decoded.');
      }
      clip(decoded.channelData);
      const drop = Math.min(skip - skipped, decoded.samplesDecoded);
      skipped += drop;
      // The decoder always gives two channels, alike for a mono recording.
      held.push(decoded.channelData.slice(0, channels).map((samples) => samples.subarray(drop)));
      heldSamples += decoded.samplesDecoded - drop;
      while (held[0] !== undefined && heldSamples - lengthIn(held[0]) >= padding) {
        const samples = held.shift() ?? [];
        heldSamples -= lengthIn(samples);
        given += lengthIn(samples);
        if (lengthIn(samples) > 0) yield { sampleRate, channels: samples };
      }
    }
    const total = lengthOf(open, found).frames;
    for (const samples of held) {
      const kept = Math.min(lengthIn(samples), total - given);
      if (kept <= 0) break;
      given += kept;
      yield { sampleRate, channels: samples.map((each) => each.subarray(0, kept)) };
    }
    if (given === 0) throw unreadable('The MP3 holds not one sample of sound.');
  } finally {
    decoder.free();
  }
}

function lengthIn(samples: readonly Float32Array[]): number {
  return samples[0]?.length ?? 0;
}
