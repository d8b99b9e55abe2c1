/**
 * How samples are written as bytes: in blocks of one size, each with all channels, each to be understood by itself or
 * after those before it.
 */
export interface Codec {
  /** As ffmpeg names it. */
  readonly name: string;
  readonly blockBytes: number;
  readonly framesPerBlock: number;
  /** Frames that can be had of a last block of which only the first `bytes` are there. */
  framesInPart(bytes: number): number;
  /** Begins a recording. */
  decoder(): Decode;
}

/**
 * Decodes the blocks that follow those of the last call; only the last block of all may be a part. `channels` are as
 * long as there are frames in the bytes. Fault AUDIO_UNREADABLE when a block makes no sense.
 */
export type Decode = (bytes: Uint8Array, channels: readonly Float32Array[]) => void;

export function framesIn(codec: Codec, bytes: number): number {
  const blocks = Math.floor(bytes / codec.blockBytes);
  return blocks * codec.framesPerBlock + codec.framesInPart(bytes - blocks * codec.blockBytes);
}
