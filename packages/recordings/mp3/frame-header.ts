import { hasText } from '../reading/bytes.ts';

/** The four-byte header of an MPEG audio frame (ISO/IEC 11172-3, 2.4.1.3; 13818-3 for the low rates). */
export interface FrameHeader {
  /** 2.5 is Fraunhofer's extension of MPEG-2 to 8, 11.025 and 12 kHz. */
  readonly version: 1 | 2 | 2.5;
  readonly layer: 1 | 2 | 3;
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** Samples per channel. */
  readonly samples: number;
  /** Including the header; 0 for free format, whose frame headers do not give a size. */
  readonly sizeBytes: number;
}

/** The longest frame: layer II at 384 kbit/s and 32 kHz or at 160 kbit/s and 8 kHz. */
export const MAX_FRAME_BYTES = 2_881;

const KBITS = {
  high: {
    1: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  low: {
    1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    3: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  },
} as const;
const RATES = [44_100, 48_000, 32_000] as const;
const VERSIONS = [2.5, null, 2, 1] as const;
const LAYERS = [null, 3, 2, 1] as const;

/** Null when the bytes at `at` are not a valid header. */
export function frameHeader(bytes: Uint8Array, at: number): FrameHeader | null {
  const second = bytes[at + 1];
  const third = bytes[at + 2];
  const fourth = bytes[at + 3];
  if (bytes[at] !== 0xff || second === undefined || third === undefined || fourth === undefined) return null;
  if (second < 0xe0) return null;
  const version = VERSIONS[(second >> 3) & 3] ?? null;
  const layer = LAYERS[(second >> 1) & 3] ?? null;
  const fullRate = RATES[(third >> 2) & 3];
  const bitrateIndex = third >> 4;
  const reservedEmphasis = (fourth & 3) === 2;
  if (version === null || layer === null || fullRate === undefined || bitrateIndex === 15 || reservedEmphasis)
    return null;

  const sampleRate = version === 1 ? fullRate : version === 2 ? fullRate / 2 : fullRate / 4;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 1 ? 576 : 1152;
  const bits = (KBITS[version === 1 ? 'high' : 'low'][layer][bitrateIndex - 1] ?? 0) * 1000;
  const padding = (third >> 1) & 1;
  const slotBytes = layer === 1 ? 4 : 1;
  const slots = Math.floor(((samples / 8) * bits) / sampleRate / slotBytes) + padding;
  return {
    version,
    layer,
    sampleRate,
    channels: fourth >> 6 === 3 ? 1 : 2,
    samples,
    sizeBytes: bits === 0 ? 0 : slots * slotBytes,
  };
}

/** Whether two frames can belong to one stream: only the bit rate and the stereo mode may change within it. */
export function sameStream(a: FrameHeader, b: FrameHeader): boolean {
  return a.version === b.version && a.layer === b.layer && a.sampleRate === b.sampleRate && a.channels === b.channels;
}

/** The encoder's tag in a silent first frame: Xing or Info, with LAME's extension, or VBRI. */
export interface VbrTag {
  /** Number of frames after this one; null when the tag does not have it. */
  readonly frames: number | null;
  /** Bytes from this frame to the end of the last; null when the tag does not have it. */
  readonly bytes: number | null;
  /** Samples that the encoder added before and after the audio; null when the tag does not have them. */
  readonly gaps: { readonly before: number; readonly after: number } | null;
}

const FRAMES = 1;
const BYTES = 2;
const SEEK_TABLE = 4;
const QUALITY = 8;
/** LAME's extension begins with a nine-byte version and has the delays at byte 21. */
const LAME_DELAYS = 21;
/** The encoders that fill in LAME's delays. */
const GAPLESS = ['LAME', 'Lavf', 'Lavc'];

/** Null when the frame has no tag, so holds audio. */
export function vbrTag(frame: Uint8Array, header: FrameHeader): VbrTag | null {
  const sideInfo = header.version === 1 ? (header.channels === 2 ? 32 : 17) : header.channels === 2 ? 17 : 9;
  // A checksum moves the tag by two bytes with some encoders and not with others.
  for (const at of [4 + sideInfo, 6 + sideInfo]) {
    if (hasText(frame, at, 'Xing') || hasText(frame, at, 'Info')) return xing(frame, at);
  }
  return hasText(frame, 36, 'VBRI') ? vbri(frame) : null;
}

function xing(frame: Uint8Array, tag: number): VbrTag {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const u32 = (at: number): number | null => (at + 4 <= frame.length ? view.getUint32(at) : null);
  const flags = u32(tag + 4) ?? 0;
  let at = tag + 8;
  const field = (flag: number, bytes: number): number | null => {
    if ((flags & flag) === 0) return null;
    at += bytes;
    return u32(at - bytes);
  };
  const frames = field(FRAMES, 4);
  const bytes = field(BYTES, 4);
  field(SEEK_TABLE, 100);
  field(QUALITY, 4);
  const delays = at + LAME_DELAYS;
  const known = GAPLESS.some((encoder) => hasText(frame, at, encoder)) && delays + 3 <= frame.length;
  const value = known ? (view.getUint16(delays) << 8) | view.getUint8(delays + 2) : 0;
  return { frames, bytes, gaps: known ? { before: value >> 12, after: value & 0xfff } : null };
}

function vbri(frame: Uint8Array): VbrTag | null {
  if (frame.length < 36 + 18) return null;
  const view = new DataView(frame.buffer, frame.byteOffset + 36, frame.length - 36);
  return { frames: view.getUint32(14), bytes: view.getUint32(10), gaps: null };
}
