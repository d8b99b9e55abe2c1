import { unreadable } from '../faults.ts';
import { Bits, crc8 } from './bits.ts';

/** The header of a frame (RFC 9639, section 9.1). */
export interface FrameHeader {
  readonly sizeBytes: number;
  /** Samples per channel. */
  readonly samples: number;
  /** Number of the frame's first sample in the stream. */
  readonly start: number;
  readonly sampleRate: number;
  readonly channels: number;
  readonly coupling: 'none' | 'left-side' | 'side-right' | 'mid-side';
  readonly bitsPerSample: number;
}

export const MAX_HEADER_BYTES = 16;

const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const DEPTHS = [0, 8, 12, null, 16, 20, 24, 32];
const COUPLINGS = ['left-side', 'side-right', 'mid-side'] as const;

/** Null when no frame of this stream begins at `at`, or its header is incomplete. */
export function frameHeader(bytes: Uint8Array, at: number, info: StreamInfo): FrameHeader | null {
  const second = bytes[at + 1] ?? 0;
  if (bytes[at] !== 0xff || (second & 0xfe) !== 0xf8) return null;
  const third = bytes[at + 2] ?? 0;
  const fourth = bytes[at + 3] ?? 0;
  const blockCode = third >> 4;
  const rateCode = third & 15;
  const channelCode = fourth >> 4;
  const depth = DEPTHS[(fourth >> 1) & 7] ?? null;
  if (blockCode === 0 || rateCode === 15 || channelCode > 10 || depth === null || (fourth & 1) !== 0) return null;

  const number = codedNumber(bytes, at + 4);
  if (number === null) return null;
  let end = at + 4 + number.bytes;
  const next = (width: 1 | 2): number => {
    end += width;
    return width === 1 ? (bytes[end - 1] ?? 0) : ((bytes[end - 2] ?? 0) << 8) | (bytes[end - 1] ?? 0);
  };
  const samples = blockSamples(blockCode, next);
  const rate =
    rateCode < 12 ? (RATES[rateCode] ?? 0) : next(rateCode === 12 ? 1 : 2) * ([1000, 1, 10][rateCode - 12] ?? 1);
  if (end >= bytes.length || crc8(bytes, at, end) !== bytes[end]) return null;

  const variable = (second & 1) === 1;
  return {
    sizeBytes: end + 1 - at,
    samples,
    start: variable ? number.value : number.value * (info.blockSamples ?? samples),
    sampleRate: rate === 0 ? info.sampleRate : rate,
    channels: channelCode < 8 ? channelCode + 1 : 2,
    coupling: COUPLINGS[channelCode - 8] ?? 'none',
    bitsPerSample: depth === 0 ? info.bitsPerSample : depth,
  };
}

function blockSamples(code: number, next: (width: 1 | 2) => number): number {
  if (code === 1) return 192;
  if (code <= 5) return 576 << (code - 2);
  if (code === 6) return next(1) + 1;
  if (code === 7) return next(2) + 1;
  return 256 << (code - 8);
}

/** Reads a number in the scheme of UTF-8, extended to 36 bits. */
function codedNumber(bytes: Uint8Array, at: number): { value: number; bytes: number } | null {
  const first = bytes[at] ?? 0xff;
  if (first < 0x80) return { value: first, bytes: 1 };
  const length = Math.clz32(~(first << 24));
  if (length < 2 || length > 7) return null;
  let value = first & (0x7f >> length);
  for (let index = 1; index < length; index++) {
    const byte = bytes[at + index] ?? 0;
    if ((byte & 0xc0) !== 0x80) return null;
    value = value * 64 + (byte & 0x3f);
  }
  return { value, bytes: length };
}

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
