import { unreadable } from '../faults.ts';
import { Bits } from './bits.ts';

export const STREAM_INFO_BYTES = 34;

/** The STREAMINFO block (RFC 9639, section 8.2). */
export interface StreamInfo {
  /** Samples per channel in every frame but the last; null when the frames differ. */
  readonly blockSamples: number | null;
  /** The most samples per channel in a frame. */
  readonly maxBlockSamples: number;
  /** 0 when unknown. */
  readonly maxFrameBytes: number;
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** Reads the block's body. AUDIO_UNREADABLE for values that no encoder writes. */
export function streamInfo(body: Uint8Array): StreamInfo {
  if (body.length < STREAM_INFO_BYTES) throw unreadable('The FLAC file ends within its header.');
  const bits = new Bits(body);
  const minBlock = bits.unsigned(16);
  const maxBlock = bits.unsigned(16);
  bits.unsigned(24);
  const maxFrameBytes = bits.unsigned(24);
  const sampleRate = bits.unsigned(20);
  const channels = bits.unsigned(3) + 1;
  const bitsPerSample = bits.unsigned(5) + 1;
  if (sampleRate === 0) throw unreadable('The FLAC file says that its sample rate is 0.');
  if (maxBlock < 16 || minBlock > maxBlock)
    throw unreadable('The FLAC file says that its frames have impossible sizes.');
  if (bitsPerSample < 4) throw unreadable(`The FLAC file says that it has ${bitsPerSample} bits per sample.`);
  return {
    blockSamples: minBlock === maxBlock ? maxBlock : null,
    maxBlockSamples: maxBlock,
    maxFrameBytes,
    sampleRate,
    channels,
    bitsPerSample,
  };
}
