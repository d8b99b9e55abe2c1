import { notOfFormat, unreadable } from '../faults.ts';
import { id3v2Bytes, says } from '../mp3/tags.ts';
import type { Source } from '../recording.ts';
import { Window } from '../window.ts';
import { type FrameHeader, frameHeader, MAX_HEADER_BYTES } from './frame-header.ts';
import { type Frame, readFrame } from './frame.ts';
import { STREAM_INFO_BYTES, type StreamInfo, streamInfo } from './stream-info.ts';

/** A FLAC file up to its first frame. */
export interface Opening {
  readonly info: StreamInfo;
  readonly first: FrameHeader;
  /** Where the first frame begins. */
  readonly start: number;
}

const STREAM_INFO = 0;
/** Encoders write some ten. Each costs a read when pictures push them apart. */
const MAX_BLOCKS = 1_024;
const HEAD_BYTES = 65_536;
const MAX_TAIL_BYTES = 180_000;
/** Places that look like a frame and are none; a file with more of them was made to waste time. */
const MAX_MISTAKES = 64;

/**
 * Fails with INVALID_FILE_FORMAT when it is no FLAC, with AUDIO_UNREADABLE when its header is broken or no frame
 * follows.
 */
export async function opening(source: Source): Promise<Opening> {
  const head = await source.read(0, HEAD_BYTES);
  const read = async (from: number, to: number): Promise<Uint8Array> =>
    to <= head.length ? head.subarray(from, to) : await source.read(from, to);

  let at = id3v2Bytes(head, 0);
  if (!says(await read(at, at + 4), 0, 'fLaC')) throw notOfFormat('flac');
  at += 4;
  let info: StreamInfo | null = null;
  for (let count = 0, last = false; !last; count++) {
    const block = await read(at, at + 4);
    if (block.length < 4) throw unreadable('The FLAC ends within its header.');
    if (count === MAX_BLOCKS) throw unreadable('The FLAC has too many blocks in its header.');
    last = (block[0] ?? 0) >> 7 === 1;
    const length = ((block[1] ?? 0) << 16) | ((block[2] ?? 0) << 8) | (block[3] ?? 0);
    if (count === 0) {
      if (((block[0] ?? 0) & 0x7f) !== STREAM_INFO) throw unreadable('The FLAC does not begin with STREAMINFO.');
      info = streamInfo(await read(at + 4, at + 4 + STREAM_INFO_BYTES));
    }
    at += 4 + length;
  }
  if (info === null) throw unreadable('The FLAC has no STREAMINFO.');

  const first = frameHeader(await source.read(at, at + MAX_HEADER_BYTES + 4), 0, info);
  if (first === null) throw unreadable('The FLAC holds not one frame of sound.');
  if (first.sampleRate !== info.sampleRate || first.channels !== info.channels) {
    throw unreadable('The header of the FLAC contradicts its frames.');
  }
  return { info: withBlockSize(info, first), first, start: at };
}

/** Some encoders do not say how long their frames of one length are; all but the last are as long as the first. */
function withBlockSize(info: StreamInfo, first: FrameHeader): StreamInfo {
  return info.blockSamples === null ? { ...info, blockSamples: first.samples } : info;
}

/**
 * Every frame in order, checked by its checksum. A frame that is cut off at the end of the file is left out, and so is
 * what follows the last frame; broken or missing frames in the middle are AUDIO_UNREADABLE.
 */
export async function* frames(source: Source, { info, first, start }: Opening): AsyncGenerator<Frame> {
  const window = new Window(source, { start });
  const most = mostFrameBytes(info);
  let wanted = Math.min(info.maxFrameBytes === 0 ? 16_384 : info.maxFrameBytes, most);
  let expected = first.start;
  try {
    while (await window.has(1)) {
      const complete = await window.has(wanted);
      const frame = readFrame(window.bytes, 0, info);
      if (frame === 'short' && complete && wanted < most) {
        wanted = Math.min(wanted * 2, most);
      } else if (typeof frame === 'string') {
        if (await anotherFrame(window, info)) throw unreadable('The FLAC is broken in the middle.');
        return;
      } else {
        follows(frame, expected, info);
        expected += frame.header.samples;
        window.drop(frame.sizeBytes);
        yield frame;
      }
    }
  } finally {
    await window.close();
  }
}

/** The last whole frame near the end of the file; null when there is none near it. */
export async function lastFrame(source: Source, { info, start }: Opening): Promise<FrameHeader | null> {
  const length = Math.min(Math.max(HEAD_BYTES, 2 * info.maxFrameBytes), MAX_TAIL_BYTES);
  const tail = await source.read(Math.max(start, source.sizeBytes - length), source.sizeBytes);
  for (let at = tail.length - 1, mistakes = 0; at >= 0 && mistakes < MAX_MISTAKES; at--) {
    if (tail[at] !== 0xff || frameHeader(tail, at, info) === null) continue;
    const frame = readFrame(tail, at, info);
    if (typeof frame !== 'string') return frame.header;
    mistakes++;
  }
  return null;
}

export function follows({ header }: Frame, expected: number, info: StreamInfo): void {
  if (header.sampleRate !== info.sampleRate) {
    throw unreadable(`The FLAC changes from ${info.sampleRate} Hz to ${header.sampleRate} Hz in the middle.`);
  }
  if (header.start !== expected) throw unreadable('The FLAC is broken in the middle: frames are missing.');
}

async function anotherFrame(window: Window, info: StreamInfo): Promise<boolean> {
  const most = mostFrameBytes(info);
  let mistakes = 0;
  for (let from = 1; ; from = 0) {
    const more = await window.has(2 * most);
    const { bytes } = window;
    const searchable = more ? bytes.length - most : bytes.length;
    for (let at = from; at < searchable; at++) {
      if (bytes[at] !== 0xff || frameHeader(bytes, at, info) === null) continue;
      if (typeof readFrame(bytes, at, info) !== 'string') return true;
      if (++mistakes > MAX_MISTAKES) return true;
    }
    if (!more) return false;
    window.drop(searchable);
  }
}

/** Twice what a frame without any compression takes; encoders write no worse. */
function mostFrameBytes({ maxBlockSamples, channels, bitsPerSample }: StreamInfo): number {
  return Math.ceil((maxBlockSamples * channels * (bitsPerSample + 1)) / 4) + 1_024;
}
