import { notOfFormat, unreadable, unsupportedCodec } from '../faults.ts';
import type { Source } from '../recording.ts';
import { Window } from '../window.ts';
import { type FrameHeader, frameHeader, MAX_FRAME_BYTES, sameStream } from './header.ts';
import { apeBytes, audioBounds, id3v2Bytes, says } from './tags.ts';
import { type VbrTag, vbrTag } from './vbr-tag.ts';

/** What an MP3 begins with: its first frame's header, the encoder's tag and where the frames of sound begin. */
export interface Opening {
  readonly header: FrameHeader;
  readonly tag: VbrTag | null;
  /** Where the first frame begins, which is the tag where there is one. */
  readonly firstFrame: number;
  /** Where the first frame of sound begins. */
  readonly firstSound: number;
  /** Where the tags at the end of the file begin. */
  readonly end: number;
}

/** Frames that lie one behind the other. */
export interface Run {
  readonly frames: number;
  readonly bytes: Uint8Array;
}

/** Bytes before the first frame that are neither a tag nor a frame: left-overs of cutting, padding behind a tag. */
const MAX_LEADING_BYTES = 131_072;
const IN_A_ROW = 3;
const LOOK_AHEAD = IN_A_ROW * MAX_FRAME_BYTES + 4;
/** A run is decoded at once. */
const FRAMES_IN_RUN = 16;
/** Looking for free format takes thousands of comparisons at each place. */
const MAX_TRIES = 64;
/** Bytes between frames that may be lost in one file: these, or a hundredth of the file if that is more. */
const MIN_LOSS_BYTES = 8_192;

const WAVE_FORMAT_MPEG_LAYER_3 = 0x55;

/** INVALID_FILE_FORMAT when there are no frames of layer III, AUDIO_UNREADABLE when none of them is whole. */
export async function opening(source: Source): Promise<Opening> {
  const { start, end } = await audioBounds(source);
  const head = await source.read(start, Math.min(start + 65_536, end));
  if (isOtherContainer(head)) throw notOfFormat('mp3');

  let bytes = head;
  const searched = Math.min(end, start + MAX_LEADING_BYTES + LOOK_AHEAD);
  let at = firstFrame(bytes, 0, start + bytes.length === end);
  if (at === null && start + bytes.length < searched) {
    bytes = await source.read(start, searched);
    at = firstFrame(bytes, 0, start + bytes.length === end);
  }
  if (at === null) throw refusal(bytes, start > 0);
  const header = frameHeader(bytes, at);
  if (header === null) throw notOfFormat('mp3');
  if (header.layer !== 3) throw unsupportedCodec('mp3', `MPEG audio of layer ${header.layer === 2 ? 'II (MP2)' : 'I'}`);
  const frame = bytes.subarray(at, at + header.sizeBytes);
  const tag = frame.length === header.sizeBytes ? vbrTag(frame, header) : null;
  const offset = start + at;
  return { header, tag, firstFrame: offset, firstSound: tag === null ? offset : offset + header.sizeBytes, end };
}

/**
 * Every whole frame of sound, in order. Tags between frames are passed over, and so is a little of what is no frame (up
 * to 8 KiB, or a hundredth of the file): players do the same, and so little is a splice or a lost frame. More of it, or
 * another sample rate or number of channels, is AUDIO_UNREADABLE. What comes after the last frame does not matter.
 */
export async function* runs(source: Source, { header: first, firstSound, end }: Opening): AsyncGenerator<Run> {
  const window = new Window(source, { start: firstSound, end });
  const mayLose = Math.max(MIN_LOSS_BYTES, Math.floor((end - firstSound) / 100));
  let lost = 0;
  try {
    while (await window.has(4)) {
      await window.has(FRAMES_IN_RUN * MAX_FRAME_BYTES);
      const run = takeRun(window.bytes, first);
      if (run.frames > 0) {
        yield run;
        window.drop(run.bytes.length);
        continue;
      }
      const tagBytes = tagAt(window.bytes);
      if (tagBytes > 0) {
        await window.skip(tagBytes);
        continue;
      }
      const passed = await toNextFrame(window, first, mayLose - lost);
      if (passed === null) return;
      lost += passed;
    }
  } finally {
    await window.close();
  }
}

function takeRun(bytes: Uint8Array, first: FrameHeader): Run {
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

/** Goes on to where frames follow each other again; null when nothing of the kind comes any more. */
async function toNextFrame(window: Window, first: FrameHeader, mayLose: number): Promise<number | null> {
  const from = window.offset;
  const lost = (): number => window.offset - from;
  for (;;) {
    await window.has(2 * LOOK_AHEAD);
    const { bytes } = window;
    const searchable = window.ended ? bytes.length : bytes.length - LOOK_AHEAD;
    for (let at = lost() === 0 ? 1 : 0; at < searchable; at++) {
      if (bytes[at] !== 0xff) continue;
      const header = frameHeader(bytes, at);
      if (header === null || header.layer !== 3) continue;
      if (inARow(bytes, at, header) < (sameStream(header, first) ? 2 : IN_A_ROW)) continue;
      window.drop(at);
      if (!sameStream(header, first)) throw changes(first, header);
      if (lost() > mayLose) throw unreadable('The MP3 is broken in the middle: too much of it is not frames.');
      return lost();
    }
    if (window.ended) return null;
    window.drop(Math.max(1, searchable));
  }
}

function changes(first: FrameHeader, then: FrameHeader): Error {
  const say = ({ channels, sampleRate }: FrameHeader): string => `${channels} channel(s) at ${sampleRate} Hz`;
  return unreadable(`The MP3 changes from ${say(first)} to ${say(then)} in the middle. Convert it to one of them.`);
}

function tagAt(bytes: Uint8Array): number {
  return id3v2Bytes(bytes, 0) || apeBytes(bytes, 0) || (says(bytes, 0, 'TAG') ? 128 : 0);
}

/** How many frames of one stream follow each other from `at` on, at most three. */
function inARow(bytes: Uint8Array, at: number, first: FrameHeader): number {
  let count = 0;
  for (let header: FrameHeader | null = first; header !== null && count < IN_A_ROW;) {
    if (header.sizeBytes === 0 || at + header.sizeBytes > bytes.length) break;
    count++;
    at += header.sizeBytes;
    header = frameHeader(bytes, at);
    if (header !== null && !sameStream(header, first)) break;
  }
  return count;
}

/** The first place where three frames follow each other; fewer when the file has no more and begins with them. */
function firstFrame(bytes: Uint8Array, from: number, whole: boolean): number | null {
  const last = Math.min(bytes.length - 4, from + MAX_LEADING_BYTES);
  for (let at = from; at <= last; at++) {
    if (bytes[at] !== 0xff) continue;
    const header = frameHeader(bytes, at);
    if (header === null) continue;
    const count = inARow(bytes, at, header);
    if (count >= IN_A_ROW || (whole && at === from && count > 0)) return at;
  }
  return null;
}

function refusal(bytes: Uint8Array, tagged: boolean): Error {
  let tried = 0;
  for (let at = 0; at + 4 <= bytes.length && tried < MAX_TRIES; at++) {
    if (bytes[at] !== 0xff) continue;
    if (isAdts(bytes, at)) return unsupportedCodec('mp3', 'AAC (ADTS)');
    const header = frameHeader(bytes, at);
    if (header?.sizeBytes !== 0) continue;
    tried++;
    if (isFreeFormat(bytes, at, header)) return unsupportedCodec('mp3', 'free format frames');
  }
  if (tagged || frameHeader(bytes, 0) !== null) return unreadable('The MP3 holds not one whole frame.');
  return notOfFormat('mp3');
}

/** Free format says no length: its frames are all equally long but for a byte of padding. */
function isFreeFormat(bytes: Uint8Array, at: number, first: FrameHeader): boolean {
  const follows = (place: number): boolean => {
    const header = frameHeader(bytes, place);
    return header !== null && header.sizeBytes === 0 && sameStream(header, first);
  };
  for (let length = 24; length < 4 * MAX_FRAME_BYTES && at + 2 * length < bytes.length; length++) {
    if (!follows(at + length)) continue;
    for (const padding of [0, 1, -1]) {
      if (follows(at + 2 * length + padding)) return true;
    }
  }
  return false;
}

function isAdts(bytes: Uint8Array, at: number): boolean {
  for (let count = 0; count < IN_A_ROW; count++) {
    if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0) return false;
    const length = (((bytes[at + 3] ?? 0) & 3) << 11) | ((bytes[at + 4] ?? 0) << 3) | ((bytes[at + 5] ?? 0) >> 5);
    if (length < 7) return false;
    at += length;
  }
  return true;
}

/** RIFF counts as another container unless it was put around MP3 frames, as some recorders do. */
function isOtherContainer(head: Uint8Array): boolean {
  const isRiff = says(head, 0, 'RIFF') || says(head, 0, 'RF64');
  if (isRiff) {
    const tag = says(head, 12, 'fmt ') ? (head[20] ?? 0) | ((head[21] ?? 0) << 8) : 0;
    return tag !== WAVE_FORMAT_MPEG_LAYER_3;
  }
  return says(head, 0, 'fLaC') || says(head, 0, 'OggS') || says(head, 0, 'FORM') || says(head, 0, '.snd');
}
