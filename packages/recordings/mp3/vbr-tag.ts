import type { FrameHeader } from './header.ts';
import { says } from './tags.ts';

/** What an encoder wrote into a silent first frame about the others: Xing or Info, with LAME's extension, or VBRI. */
export interface VbrTag {
  /** Frames after this one, null when it does not say. */
  readonly frames: number | null;
  /** Bytes from this frame to the end of the last, null when it does not say. */
  readonly bytes: number | null;
  /** Samples that the encoder put before the sound, and after it; null when it does not say. */
  readonly gaps: { readonly before: number; readonly after: number } | null;
}

const FRAMES = 1;
const BYTES = 2;
const SEEK_TABLE = 4;
const QUALITY = 8;
/** LAME's own tag begins with a nine-byte version and has the delays at byte 21. */
const LAME_DELAYS = 21;
/** Encoders that are known to fill in LAME's delays. */
const GAPLESS = ['LAME', 'Lavf', 'Lavc'];

/** Null when the frame is one of sound. */
export function vbrTag(frame: Uint8Array, header: FrameHeader): VbrTag | null {
  const sideInfo = header.version === 1 ? (header.channels === 2 ? 32 : 17) : header.channels === 2 ? 17 : 9;
  // With a checksum in the frame some encoders write the tag two bytes later and some do not.
  for (const at of [4 + sideInfo, 6 + sideInfo]) {
    if (says(frame, at, 'Xing') || says(frame, at, 'Info')) return xing(frame, at);
  }
  return says(frame, 36, 'VBRI') ? vbri(frame) : null;
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
  const known = GAPLESS.some((encoder) => says(frame, at, encoder)) && delays + 3 <= frame.length;
  const value = known ? (view.getUint16(delays) << 8) | view.getUint8(delays + 2) : 0;
  return { frames, bytes, gaps: known ? { before: value >> 12, after: value & 0xfff } : null };
}

function vbri(frame: Uint8Array): VbrTag | null {
  if (frame.length < 36 + 18) return null;
  const view = new DataView(frame.buffer, frame.byteOffset + 36, frame.length - 36);
  return { frames: view.getUint32(14), bytes: view.getUint32(10), gaps: null };
}
