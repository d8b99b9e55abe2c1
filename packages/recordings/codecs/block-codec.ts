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
