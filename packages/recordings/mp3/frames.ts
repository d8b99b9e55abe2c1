import { unreadable, unsupportedCodec, wrongContent } from '../faults.ts';
import { BufferedReader } from '../reading/buffered-reader.ts';
import { hasText } from '../reading/bytes.ts';
import type { Source } from '../recording.ts';
import { type FrameHeader, frameHeader, MAX_FRAME_BYTES, sameStream, type VbrTag, vbrTag } from './frame-header.ts';
import { apeBytes, audioBounds, id3v2Bytes } from './tags.ts';

/** The start of an MP3: the header of the first frame, the encoder's tag and the position of the audio frames. */
export interface Mp3Start {
  readonly header: FrameHeader;
  readonly tag: VbrTag | null;
  /** Offset of the first frame, which holds the tag if there is one. */
  readonly firstFrame: number;
  /** Offset of the first frame with audio. */
  readonly firstAudioFrame: number;
  /** Offset of the tags at the end of the file. */
  readonly end: number;
}

/** Consecutive frames. */
type FrameRun = ReturnType<typeof takeRun>;

/** Bytes before the first frame that are neither tag nor frame: the rest of a cut frame, or padding after a tag. */
const MAX_LEADING_BYTES = 131_072;
/** This many consecutive frame headers distinguish an MP3 from random bytes. */
const MIN_CONSECUTIVE = 3;
const LOOK_AHEAD = MIN_CONSECUTIVE * MAX_FRAME_BYTES + 4;
/** The decoder is called once per run. */
const FRAMES_IN_RUN = 16;
/** The check for free format takes thousands of comparisons per position. */
const MAX_TRIES = 64;
/** Bytes between frames that may be skipped in one file: this many, or a hundredth of the file if that is more. */
const MIN_SKIPPABLE_BYTES = 8_192;

const WAVE_FORMAT_MPEG_LAYER_3 = 0x55;

/** INVALID_FILE_FORMAT when there are no frames of layer III, AUDIO_UNREADABLE when none of them is complete. */
export async function readStart(source: Source): Promise<Mp3Start> {
  const { start, end } = await audioBounds(source);
  const head = await source.read(start, Math.min(start + 65_536, end));
  if (isOtherContainer(head)) throw wrongContent('mp3');

  let bytes = head;
  const searched = Math.min(end, start + MAX_LEADING_BYTES + LOOK_AHEAD);
  let at = firstFrame(bytes, start + bytes.length === end);
  if (at === null && start + bytes.length < searched) {
    bytes = await source.read(start, searched);
    at = firstFrame(bytes, start + bytes.length === end);
  }
  if (at === null) throw refusal(bytes, start > 0);
  const header = frameHeader(bytes, at);
  if (header === null) throw wrongContent('mp3');
  if (header.layer !== 3) {
    throw unsupportedCodec('mp3', `MPEG audio of layer ${header.layer === 2 ? 'II (MP2)' : 'I'}`, header.channels);
  }
  const frame = bytes.subarray(at, at + header.sizeBytes);
  const tag = frame.length === header.sizeBytes ? vbrTag(frame, header) : null;
  const offset = start + at;
  return { header, tag, firstFrame: offset, firstAudioFrame: tag === null ? offset : offset + header.sizeBytes, end };
}

/**
 * Yields every complete audio frame in order. Tags between frames are skipped. So are up to 8 KiB, or a hundredth of
 * the file, of other bytes: that little is a splice or a lost frame, and players skip it too. More of them, or a change
 * of the sample rate or the number of channels, is AUDIO_UNREADABLE. Bytes after the last frame are ignored.
 */
export async function* frameRuns(
  source: Source,
  { header: first, firstAudioFrame, end }: Mp3Start,
): AsyncGenerator<FrameRun> {
  const reader = new BufferedReader(source, { start: firstAudioFrame, end });
  const maySkip = Math.max(MIN_SKIPPABLE_BYTES, Math.floor((end - firstAudioFrame) / 100));
  let skipped = 0;
  try {
    while (await reader.fill(4)) {
      await reader.fill(FRAMES_IN_RUN * MAX_FRAME_BYTES);
      const run = takeRun(reader.bytes, first);
      if (run.frames > 0) {
        yield run;
        reader.consume(run.bytes.length);
        continue;
      }
      const tagBytes = tagAt(reader.bytes);
      if (tagBytes > 0) {
        await reader.skip(tagBytes);
        continue;
      }
      const bytes = await skipToNextFrame(reader, first, maySkip - skipped);
      if (bytes === null) return;
      skipped += bytes;
    }
  } finally {
    await reader.close();
  }
}

function takeRun(bytes: Uint8Array, first: FrameHeader) {
  let at = 0;
  let frames = 0;
  while (frames < FRAMES_IN_RUN) {
    const header = frameHeader(bytes, at);
    if (header === null || header.sizeBytes === 0 || !sameStream(header, first)) break;
    if (at + header.sizeBytes > bytes.length) break;
    at += header.sizeBytes;
    frames++;
  }
  return { frames, bytes: bytes.subarray(0, at) };
}

/** Moves on to the next consecutive frames and returns the number of skipped bytes; null when no frames follow. */
async function skipToNextFrame(reader: BufferedReader, first: FrameHeader, maySkip: number): Promise<number | null> {
  const from = reader.offset;
  const skipped = (): number => reader.offset - from;
  for (;;) {
    await reader.fill(2 * LOOK_AHEAD);
    const { bytes } = reader;
    const searchable = reader.ended ? bytes.length : bytes.length - LOOK_AHEAD;
    for (let at = skipped() === 0 ? 1 : 0; at < searchable; at++) {
      if (bytes[at] !== 0xff) continue;
      const header = frameHeader(bytes, at);
      if (header === null || header.layer !== 3) continue;
      if (countConsecutive(bytes, at, header) < (sameStream(header, first) ? 2 : MIN_CONSECUTIVE)) continue;
      reader.consume(at);
      if (!sameStream(header, first)) throw changes(first, header);
      if (skipped() > maySkip)
        throw unreadable('The MP3 file is damaged in the middle: too many bytes are not frames.');
      return skipped();
    }
    if (reader.ended) return null;
    reader.consume(Math.max(1, searchable));
  }
}

function changes(first: FrameHeader, then: FrameHeader): Error {
  const describe = ({ channels, sampleRate }: FrameHeader): string => `${channels} channel(s) at ${sampleRate} Hz`;
  return unreadable(
    `The MP3 file changes from ${describe(first)} to ${describe(then)} in the middle. Convert it to one of them.`,
  );
}

function tagAt(bytes: Uint8Array): number {
  return id3v2Bytes(bytes) || apeBytes(bytes) || (hasText(bytes, 0, 'TAG') ? 128 : 0);
}

/** The number of consecutive frames of one stream from `at` on, at most three. */
function countConsecutive(bytes: Uint8Array, at: number, first: FrameHeader): number {
  let count = 0;
  for (let header: FrameHeader | null = first; header !== null && count < MIN_CONSECUTIVE;) {
    if (header.sizeBytes === 0 || at + header.sizeBytes > bytes.length) break;
    count++;
    at += header.sizeBytes;
    header = frameHeader(bytes, at);
    if (header !== null && !sameStream(header, first)) break;
  }
  return count;
}

/** The offset of the first three consecutive frames; fewer are enough at the beginning of a file that ends there. */
function firstFrame(bytes: Uint8Array, isEntireFile: boolean): number | null {
  const last = Math.min(bytes.length - 4, MAX_LEADING_BYTES);
  for (let at = 0; at <= last; at++) {
    if (bytes[at] !== 0xff) continue;
    const header = frameHeader(bytes, at);
    if (header === null) continue;
    const count = countConsecutive(bytes, at, header);
    if (count >= MIN_CONSECUTIVE || (isEntireFile && at === 0 && count > 0)) return at;
  }
  return null;
}

function refusal(bytes: Uint8Array, tagged: boolean): Error {
  let tried = 0;
  for (let at = 0; at + 4 <= bytes.length && tried < MAX_TRIES; at++) {
    if (bytes[at] !== 0xff) continue;
    if (isAdts(bytes, at)) return unsupportedCodec('mp3', 'AAC (ADTS)', null);
    const header = frameHeader(bytes, at);
    if (header?.sizeBytes !== 0) continue;
    tried++;
    if (isFreeFormat(bytes, at, header)) return unsupportedCodec('mp3', 'free-format frames', header.channels);
  }
  if (tagged || frameHeader(bytes, 0) !== null) return unreadable('The MP3 file holds no complete frame.');
  return wrongContent('mp3');
}

/** Free-format headers do not give a size. All frames have the same size, apart from one byte of padding. */
function isFreeFormat(bytes: Uint8Array, at: number, first: FrameHeader): boolean {
  const isFrameAt = (offset: number): boolean => {
    const header = frameHeader(bytes, offset);
    return header !== null && header.sizeBytes === 0 && sameStream(header, first);
  };
  for (let length = 24; length < 4 * MAX_FRAME_BYTES && at + 2 * length < bytes.length; length++) {
    if (!isFrameAt(at + length)) continue;
    for (const padding of [0, 1, -1]) {
      if (isFrameAt(at + 2 * length + padding)) return true;
    }
  }
  return false;
}

function isAdts(bytes: Uint8Array, at: number): boolean {
  for (let count = 0; count < MIN_CONSECUTIVE; count++) {
    if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0) return false;
    const length = (((bytes[at + 3] ?? 0) & 3) << 11) | ((bytes[at + 4] ?? 0) << 3) | ((bytes[at + 5] ?? 0) >> 5);
    if (length < 7) return false;
    at += length;
  }
  return true;
}

/** RIFF counts as another container unless it holds MP3 frames, as some recorders write it. */
function isOtherContainer(head: Uint8Array): boolean {
  const isRiff = hasText(head, 0, 'RIFF') || hasText(head, 0, 'RF64');
  if (isRiff) {
    const tag = hasText(head, 12, 'fmt ') ? (head[20] ?? 0) | ((head[21] ?? 0) << 8) : 0;
    return tag !== WAVE_FORMAT_MPEG_LAYER_3;
  }
  return hasText(head, 0, 'fLaC') || hasText(head, 0, 'OggS') || hasText(head, 0, 'FORM') || hasText(head, 0, '.snd');
}
