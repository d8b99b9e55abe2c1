import { hasText } from '../reading/bytes.ts';
import type { FrameHeader } from './frame-header.ts';

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
