import { MPEGDecoder } from 'mpg123-decoder';
import { clip } from '../codecs/channels.ts';
import { unreadable } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import type { VbrTag } from './frame-header.ts';
import { frameRuns, type Mp3Start, readStart } from './frames.ts';

/** The delay of every decoder, in samples (LAME's "decoder delay"). */
const DECODER_DELAY = 529;

/**
 * The samples of audio in `found` complete frames, and how many to skip before them, as ffmpeg counts them: without the
 * encoder's delay and padding where the tag has them. A file with fewer frames than its tag says was cut off, and one
 * with more is a concatenation; neither ends with the padding that the tag gives.
 */
function lengthOf({ header, tag }: Mp3Start, found: number) {
  const gaps = tag?.gaps ?? null;
  const declared = tag?.frames ?? null;
  const skip = gaps === null ? 0 : gaps.before + DECODER_DELAY;
  const padding = found === declared ? paddingOf(tag) : 0;
  return { skip, frames: Math.max(0, found * header.samples - skip - padding) };
}

/** Samples after the audio in a file that ends as its tag says. */
function paddingOf(tag: VbrTag | null): number {
  return tag === null || tag.gaps === null ? 0 : Math.max(0, tag.gaps.after - DECODER_DELAY);
}

/** The number of frames in the encoder's tag if it agrees with the size of the file; otherwise null. */
function framesByTag({ header, tag, firstFrame, end }: Mp3Start): number | null {
  if (tag === null || tag.frames === null || tag.bytes === null || tag.frames === 0) return null;
  const bytes = end - firstFrame;
  // A smaller file was cut off and a larger one was added to. Encoders differ by one frame in counting their tag.
  if (tag.bytes > bytes || bytes - tag.bytes > header.sizeBytes) return null;
  const perFrame = tag.bytes / tag.frames;
  const [least, most] = header.version === 1 ? [96, 1_441] : [24, 1_441];
  return perFrame < least || perFrame > most ? null : tag.frames;
}

/**
 * MP3: MPEG-1, -2 and -2.5 audio of layer III, with any tags. The length is taken from the encoder's tag where the tag
 * agrees with the file's size; otherwise the frames of the whole file are counted. A length from the tag differs from the
 * decoded length only if the tag is wrong.
 */
export const mp3: Container = { format: 'mp3', probe, decode };

async function probe(source: Source): Promise<RecordingInfo> {
  const start = await readStart(source);
  const { frames } = lengthOf(start, framesByTag(start) ?? (await countFrames(source, start)));
  if (frames === 0) throw unreadable('The MP3 file holds no sample of audio.');
  const { channels, sampleRate } = start.header;
  return { format: 'mp3', codec: 'mp3', channels, sampleRate, frames, duration: frames / sampleRate };
}

async function countFrames(source: Source, start: Mp3Start): Promise<number> {
  let count = 0;
  for await (const run of frameRuns(source, start)) count += run.frames;
  return count;
}

async function* decode(source: Source): AsyncGenerator<Samples> {
  const start = await readStart(source);
  const { sampleRate, channels } = start.header;
  // The decoder's own trimming trusts the encoder's tag even when the file was cut off, so it is done here instead.
  const decoder = new MPEGDecoder({ enableGapless: false });
  await decoder.ready;
  const { skip } = lengthOf(start, 0);
  const padding = paddingOf(start.tag);
  // The last samples are held back: they are padding only if no frame follows.
  const held: Float32Array[][] = [];
  let heldSamples = 0;
  let skipped = 0;
  let given = 0;
  let found = 0;
  try {
    for await (const run of frameRuns(source, start)) {
      found += run.frames;
      const decoded = decoder.decode(run.bytes);
      if (decoded.errors.length > 0 || decoded.samplesDecoded !== run.frames * start.header.samples) {
        throw unreadable('The MP3 file is damaged in the middle: a frame of it cannot be decoded.');
      }
      clip(decoded.channelData);
      const drop = Math.min(skip - skipped, decoded.samplesDecoded);
      skipped += drop;
      // The decoder always returns two channels; for a mono recording they are equal.
      held.push(decoded.channelData.slice(0, channels).map((samples) => samples.subarray(drop)));
      heldSamples += decoded.samplesDecoded - drop;
      while (held[0] !== undefined && heldSamples - lengthIn(held[0]) >= padding) {
        const samples = held.shift() ?? [];
        heldSamples -= lengthIn(samples);
        given += lengthIn(samples);
        if (lengthIn(samples) > 0) yield { sampleRate, channels: samples };
      }
    }
    const total = lengthOf(start, found).frames;
    for (const samples of held) {
      const kept = Math.min(lengthIn(samples), total - given);
      if (kept <= 0) break;
      given += kept;
      yield { sampleRate, channels: samples.map((each) => each.subarray(0, kept)) };
    }
    if (given === 0) throw unreadable('The MP3 file holds no sample of audio.');
  } finally {
    decoder.free();
  }
}

function lengthIn(samples: readonly Float32Array[]): number {
  return samples[0]?.length ?? 0;
}
