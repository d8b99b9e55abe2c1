import { unreadable } from '../faults.ts';
import type { Container, Format, RecordingInfo, Samples, Source } from '../recording.ts';
import { takeBytes } from '../source.ts';

/** The location and encoding of a recording's samples, for containers that store them in one contiguous range. */
export interface SampleData {
  readonly codec: BlockCodec;
  readonly channels: number;
  readonly sampleRate: number;
  readonly start: number;
  readonly end: number;
  readonly frames: number;
}

const MAX_SAMPLE_RATE = 768_000;

/** AUDIO_UNREADABLE for values that no recorder writes. Any number of channels is readable, so that it can be reported. */
export function checkChannelsAndRate({ channels, sampleRate }: { channels: number; sampleRate: number }): void {
  if (channels < 1) throw unreadable('The header says that the recording has no channels.');
  if (!(sampleRate >= 1 && sampleRate <= MAX_SAMPLE_RATE)) {
    throw unreadable(`The header says ${sampleRate} samples per second; a recording has 1 to ${MAX_SAMPLE_RATE}.`);
  }
}

/**
 * Adds the number of frames. `declaredFrames`, from the header, counts when it removes less than one block: a block
 * codec pads its last block.
 */
export function sampleData(found: Omit<SampleData, 'frames'>, declaredFrames: number | null = null): SampleData {
  const stored = framesIn(found.codec, found.end - found.start);
  if (stored === 0) throw unreadable('The recording is empty: it holds no sample.');
  const plausible =
    declaredFrames !== null && declaredFrames <= stored && declaredFrames > stored - found.codec.framesPerBlock;
  return { ...found, frames: plausible ? Math.max(1, declaredFrames) : stored };
}

/** A container whose headers `locate` the samples. */
export function sampleDataContainer(format: Format, locate: (source: Source) => Promise<SampleData>): Container {
  return {
    format,
    async probe(source) {
      return infoOf(format, await locate(source));
    },
    async *decode(source) {
      yield* decodeSampleData(source, await locate(source));
    },
  };
}

export function infoOf(format: Format, { codec, channels, sampleRate, frames }: SampleData): RecordingInfo {
  return { format, codec: codec.name, channels, sampleRate, frames, duration: frames / sampleRate };
}

/** The number of frames decoded per piece: few enough to stay in the processor's cache. */
const FRAMES_PER_PIECE = 8192;

export async function* decodeSampleData(source: Source, data: SampleData): AsyncGenerator<Samples> {
  const { codec, sampleRate } = data;
  const decode = codec.decoder();
  const bytesPerPiece = Math.max(1, Math.floor(FRAMES_PER_PIECE / codec.framesPerBlock)) * codec.blockBytes;
  let framesLeft = data.frames;

  function next(bytes: Uint8Array): Samples {
    const count = framesIn(codec, bytes.length);
    const channels = Array.from({ length: data.channels }, () => new Float32Array(count));
    decode(bytes, channels);
    const kept = Math.min(count, framesLeft);
    framesLeft -= kept;
    return { sampleRate, channels: kept === count ? channels : channels.map((each) => each.subarray(0, kept)) };
  }

  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of takeBytes(source.stream(data.start), data.end - data.start)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const blockBytes = bytes.length - (bytes.length % codec.blockBytes);
    for (let offset = 0; offset < blockBytes && framesLeft > 0; offset += bytesPerPiece) {
      yield next(bytes.subarray(offset, Math.min(offset + bytesPerPiece, blockBytes)));
    }
    rest = bytes.subarray(blockBytes);
  }
  if (framesLeft > 0 && codec.framesInPartialBlock(rest.length) > 0) yield next(rest);
  if (framesLeft > 0) throw unreadable('The recording ended while it was being read.');
}

/**
 * A codec that stores samples in blocks of one size. A block has all channels and is decoded by itself or with state
 * from the blocks before it.
 */
export interface BlockCodec {
  /** As ffmpeg names it. */
  readonly name: string;
  readonly blockBytes: number;
  readonly framesPerBlock: number;
  /** The number of frames that can be decoded from the first `bytes` bytes of a block. */
  framesInPartialBlock(bytes: number): number;
  /** Starts decoding a recording. */
  decoder(): Decode;
}

/**
 * Decodes the blocks that follow those of the previous call into `channels`, whose length is the number of frames in
 * `bytes`. Only the last block of a recording may be partial. AUDIO_UNREADABLE when a block is invalid.
 */
export type Decode = (bytes: Uint8Array, channels: readonly Float32Array[]) => void;

export function framesIn(codec: BlockCodec, bytes: number): number {
  const blocks = Math.floor(bytes / codec.blockBytes);
  return blocks * codec.framesPerBlock + codec.framesInPartialBlock(bytes - blocks * codec.blockBytes);
}
