import { unreadable } from '../faults.ts';
import { Bits } from './bits.ts';

export const STREAM_INFO_BYTES = 34;

/** What a FLAC stream says of itself (RFC 9639, section 8.2). */
export interface StreamInfo {
  /** Samples in every frame but the last; null when the frames differ. */
  readonly blockSamples: number | null;
  /** No frame has more samples of one channel. */
  readonly maxBlockSamples: number;
  /** 0 when unknown. */
  readonly maxFrameBytes: number;
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** Reads the block's body. AUDIO_UNREADABLE for what no encoder writes. */
export function streamInfo(body: Uint8Array): StreamInfo {
  if (body.length < STREAM_INFO_BYTES) throw unreadable('The FLAC ends within its header.');
  const bits = new Bits(body);
  const minBlock = bits.unsigned(16);
  const maxBlock = bits.unsigned(16);
  bits.unsigned(24);
  const maxFrameBytes = bits.unsigned(24);
  const sampleRate = bits.unsigned(20);
  const channels = bits.unsigned(3) + 1;
  const bitsPerSample = bits.unsigned(5) + 1;
  if (sampleRate === 0) throw unreadable('The FLAC says that its sample rate is 0.');
  if (maxBlock < 16 || minBlock > maxBlock) throw unreadable('The FLAC says impossible block sizes.');
  if (bitsPerSample < 4) throw unreadable(`The FLAC says that it has ${bitsPerSample} bits a sample.`);
  return {
    blockSamples: minBlock === maxBlock ? maxBlock : null,
    maxBlockSamples: maxBlock,
    maxFrameBytes,
    sampleRate,
    channels,
    bitsPerSample,
  };
}
