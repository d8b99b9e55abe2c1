import { concatChannels } from '../codecs/channels.ts';
import { unreadable, wrongContent } from '../faults.ts';
import { id3v2Bytes } from '../mp3/tags.ts';
import { BufferedReader } from '../reading/buffered-reader.ts';
import { hasText } from '../reading/bytes.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import {
  type FrameHeader,
  frameHeader,
  MAX_HEADER_BYTES,
  STREAM_INFO_BYTES,
  type StreamInfo,
  streamInfo,
} from './frame-header.ts';
import { type Frame, readFrame } from './frame.ts';

const SAMPLES_PER_PIECE = 4_096;

/** FLAC of 4 to 32 bits. The length is counted from the first frame to the last complete one, as it is decoded. */
export const flac: Container = { format: 'flac', probe, decode };

async function probe(source: Source): Promise<RecordingInfo> {
  const start = await readStart(source);
  const last = await lastFrame(source, start);
  const count = last === null ? await countSamples(source, start) : last.start + last.samples - start.first.start;
  if (count <= 0) throw unreadable('The FLAC file holds no complete frame of audio.');
  const { channels, sampleRate } = start.info;
  return { format: 'flac', codec: 'flac', channels, sampleRate, frames: count, duration: count / sampleRate };
}

async function countSamples(source: Source, start: FlacStart): Promise<number> {
  let count = 0;
  for await (const { header } of frames(source, start)) count += header.samples;
  return count;
}

async function* decode(source: Source): AsyncGenerator<Samples> {
  const start = await readStart(source);
  const { sampleRate } = start.info;
  let empty = true;
  for await (const pieces of grouped(frames(source, start))) {
    empty = false;
    yield { sampleRate, channels: concatChannels(pieces, start.info.channels) };
  }
  if (empty) throw unreadable('The FLAC file holds no complete frame of audio.');
}

/** Groups small frames, which may have only 16 samples: every piece costs the consumer an asynchronous step. */
async function* grouped(all: AsyncIterable<Frame>): AsyncGenerator<(readonly Float32Array[])[]> {
  let pieces: (readonly Float32Array[])[] = [];
  let samples = 0;
  for await (const { header, channels } of all) {
    pieces.push(channels);
    samples += header.samples;
    if (samples < SAMPLES_PER_PIECE) continue;
    yield pieces;
    pieces = [];
    samples = 0;
  }
  if (pieces.length > 0) yield pieces;
}

/** `start`: the offset of the first frame. */
type FlacStart = Awaited<ReturnType<typeof readStart>>;

const STREAM_INFO = 0;
/** Encoders write about ten. Each costs a read when pictures lie between them. */
const MAX_BLOCKS = 1_024;
const HEAD_BYTES = 65_536;
const MAX_TAIL_BYTES = 180_000;
/** Positions that look like a frame but are not one. A file with more of them was made to waste time. */
const MAX_FALSE_FRAMES = 64;

/** INVALID_FILE_FORMAT when the file is not FLAC, AUDIO_UNREADABLE when its header is damaged or no frame follows. */
async function readStart(source: Source) {
  const head = await source.read(0, HEAD_BYTES);
  const read = async (from: number, to: number): Promise<Uint8Array> =>
    to <= head.length ? head.subarray(from, to) : await source.read(from, to);

  let at = id3v2Bytes(head);
  if (!hasText(await read(at, at + 4), 0, 'fLaC')) throw wrongContent('flac');
  at += 4;
  let info: StreamInfo | null = null;
  for (let count = 0, last = false; !last; count++) {
    const block = await read(at, at + 4);
    if (block.length < 4) throw unreadable('The FLAC file ends within its header.');
    if (count === MAX_BLOCKS) throw unreadable('The FLAC file has too many blocks in its header.');
    last = (block[0] ?? 0) >> 7 === 1;
    const length = ((block[1] ?? 0) << 16) | ((block[2] ?? 0) << 8) | (block[3] ?? 0);
    if (count === 0) {
      if (((block[0] ?? 0) & 0x7f) !== STREAM_INFO) throw unreadable('The FLAC file does not begin with STREAMINFO.');
      info = streamInfo(await read(at + 4, at + 4 + STREAM_INFO_BYTES));
    }
    at += 4 + length;
  }
  if (info === null) throw unreadable('The FLAC file has no STREAMINFO.');

  const first = frameHeader(await source.read(at, at + MAX_HEADER_BYTES + 4), 0, info);
  if (first === null) throw unreadable('The FLAC file holds no frame of audio.');
  if (first.sampleRate !== info.sampleRate || first.channels !== info.channels) {
    throw unreadable('The header of the FLAC file contradicts its frames.');
  }
  // Some encoders leave the block size out of the header although all frames but the last have that of the first.
  return { info: { ...info, blockSamples: info.blockSamples ?? first.samples }, first, start: at };
}

/**
 * Yields every frame in order after checking its checksum. A frame that is cut off at the end of the file and anything
 * after the last frame are ignored. Damaged or missing frames in the middle are AUDIO_UNREADABLE.
 */
async function* frames(source: Source, { info, first, start }: FlacStart): AsyncGenerator<Frame> {
  const reader = new BufferedReader(source, { start });
  const most = mostFrameBytes(info);
  let wanted = Math.min(info.maxFrameBytes === 0 ? 16_384 : info.maxFrameBytes, most);
  let expected = first.start;
  try {
    while (await reader.fill(1)) {
      const complete = await reader.fill(wanted);
      const frame = readFrame(reader.bytes, 0, info);
      if (frame === 'short' && complete && wanted < most) {
        wanted = Math.min(wanted * 2, most);
      } else if (typeof frame === 'string') {
        if (await anotherFrame(reader, info)) throw unreadable('The FLAC file is damaged in the middle.');
        return;
      } else {
        requireContinuity(frame, expected, info);
        expected += frame.header.samples;
        reader.consume(frame.sizeBytes);
        yield frame;
      }
    }
  } finally {
    await reader.close();
  }
}

/** The last complete frame near the end of the file; null when there is none. */
async function lastFrame(source: Source, { info, start }: FlacStart): Promise<FrameHeader | null> {
  const length = Math.min(Math.max(HEAD_BYTES, 2 * info.maxFrameBytes), MAX_TAIL_BYTES);
  const tail = await source.read(Math.max(start, source.sizeBytes - length), source.sizeBytes);
  for (let at = tail.length - 1, falseFrames = 0; at >= 0 && falseFrames < MAX_FALSE_FRAMES; at--) {
    if (tail[at] !== 0xff || frameHeader(tail, at, info) === null) continue;
    const frame = readFrame(tail, at, info);
    if (typeof frame !== 'string') return frame.header;
    falseFrames++;
  }
  return null;
}

function requireContinuity({ header }: Frame, expected: number, info: StreamInfo): void {
  if (header.sampleRate !== info.sampleRate) {
    throw unreadable(`The FLAC file changes from ${info.sampleRate} Hz to ${header.sampleRate} Hz in the middle.`);
  }
  if (header.start !== expected) throw unreadable('The FLAC file is damaged in the middle: frames are missing.');
}

/** Whether another frame follows the damaged bytes. */
async function anotherFrame(reader: BufferedReader, info: StreamInfo): Promise<boolean> {
  const most = mostFrameBytes(info);
  let falseFrames = 0;
  for (let from = 1; ; from = 0) {
    const more = await reader.fill(2 * most);
    const { bytes } = reader;
    const searchable = more ? bytes.length - most : bytes.length;
    for (let at = from; at < searchable; at++) {
      if (bytes[at] !== 0xff || frameHeader(bytes, at, info) === null) continue;
      if (typeof readFrame(bytes, at, info) !== 'string') return true;
      if (++falseFrames > MAX_FALSE_FRAMES) return true;
    }
    if (!more) return false;
    reader.consume(searchable);
  }
}

/** Twice the size of an uncompressed frame. No encoder writes a larger one. */
function mostFrameBytes({ maxBlockSamples, channels, bitsPerSample }: StreamInfo): number {
  return Math.ceil((maxBlockSamples * channels * (bitsPerSample + 1)) / 4) + 1_024;
}
