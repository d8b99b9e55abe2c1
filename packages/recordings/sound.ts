import { type Codec, framesIn } from './codecs/codec.ts';
import { unreadable } from './faults.ts';
import type { Container, Format, RecordingInfo, Samples, Source } from './recording.ts';
import { upTo } from './source.ts';

/** Where the samples of a recording lie, and how they are written there. */
export interface Sound {
  readonly codec: Codec;
  readonly channels: number;
  readonly sampleRate: number;
  readonly start: number;
  readonly end: number;
  readonly frames: number;
}

const MOST_CHANNELS = 32;
const HIGHEST_RATE = 768_000;

/** Throws AUDIO_UNREADABLE for what no recorder writes. */
export function checkShape(shape: { channels: number; sampleRate: number }): void {
  const { channels, sampleRate } = shape;
  if (channels < 1 || channels > MOST_CHANNELS) {
    throw unreadable(`The header says ${channels} channels; a recording has 1 to ${MOST_CHANNELS}.`);
  }
  if (!(sampleRate >= 1 && sampleRate <= HIGHEST_RATE)) {
    throw unreadable(`The header says ${sampleRate} samples a second; a recording has 1 to ${HIGHEST_RATE}.`);
  }
}

/**
 * `saidFrames` is how many frames the header says there are. It is believed where it takes less than a block away: a
 * codec of blocks fills up the last one.
 */
export function sound(found: Omit<Sound, 'frames'>, saidFrames: number | null = null): Sound {
  const there = framesIn(found.codec, found.end - found.start);
  if (there === 0) throw unreadable('The recording is empty: it holds not one sample.');
  const believed = saidFrames !== null && saidFrames <= there && saidFrames > there - found.codec.framesPerBlock;
  return { ...found, frames: believed ? Math.max(1, saidFrames) : there };
}

/** A container that says in its headers where the samples are, and has them in one piece. */
export function soundContainer(format: Format, locate: (source: Source) => Promise<Sound>): Container {
  return {
    format,
    async probe(source) {
      return infoOf(format, await locate(source));
    },
    async *decode(source) {
      yield* decodeSound(source, await locate(source));
    },
  };
}

export function infoOf(format: Format, { codec, channels, sampleRate, frames }: Sound): RecordingInfo {
  return { format, codec: codec.name, channels, sampleRate, frames, duration: frames / sampleRate };
}

/** About so many frames are decoded at once: few enough to stay in the processor's cache. */
const FRAMES_AT_ONCE = 8192;

export async function* decodeSound(source: Source, what: Sound): AsyncGenerator<Samples> {
  const { codec, sampleRate } = what;
  const decode = codec.decoder();
  const bytesAtOnce = Math.max(1, Math.floor(FRAMES_AT_ONCE / codec.framesPerBlock)) * codec.blockBytes;
  let framesLeft = what.frames;

  function next(bytes: Uint8Array): Samples {
    const count = framesIn(codec, bytes.length);
    const channels = Array.from({ length: what.channels }, () => new Float32Array(count));
    decode(bytes, channels);
    const kept = Math.min(count, framesLeft);
    framesLeft -= kept;
    return { sampleRate, channels: kept === count ? channels : channels.map((each) => each.subarray(0, kept)) };
  }

  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of upTo(source.stream(what.start), what.end - what.start)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % codec.blockBytes);
    for (let at = 0; at < whole && framesLeft > 0; at += bytesAtOnce) {
      yield next(bytes.subarray(at, Math.min(at + bytesAtOnce, whole)));
    }
    rest = bytes.subarray(whole);
  }
  if (framesLeft > 0 && codec.framesInPart(rest.length) > 0) yield next(rest);
  if (framesLeft > 0) throw unreadable('The recording ended while it was being read.');
}
