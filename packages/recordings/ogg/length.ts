import { unreadable } from '../faults.ts';
import type { Source } from '../recording.ts';
import type { PacketCodec } from './codecs/packet-codec.ts';
import { firstPacketGroup, type Link, type PacketGroup, packetGroups } from './links.ts';
import { pagesFromEnd } from './page.ts';

/** The last page is searched in this many bytes at the end of the file, first in few, then in more. */
const TAIL_BYTES = [16_384, 180_000];
/** A longer recording has a wrong granule position, which would turn a few bytes into hours of silence. */
const MAX_SECONDS = 86_400;

interface Measured {
  readonly codec: PacketCodec;
  /** Samples per channel in all links. */
  readonly frames: number;
}

/** Uses the first and the last page where they are enough, otherwise all pages. */
export async function measure(source: Source): Promise<Measured> {
  const first = await firstPacketGroup(source);
  if (first === null) throw unreadable('The Ogg file holds no complete page of audio.');
  const { codec } = first.link;
  const end = await lastPage(source, first);
  const frames =
    end === null
      ? await countFrames(source)
      : lengthOf(timelineOf({ ...first, last: end.offset === first.offset }), codec, end.granule);
  return { codec, frames };
}

/** The number of samples up to the granule position. AUDIO_UNREADABLE when it is more than a day. */
export function lengthOf(timeline: Timeline, { sampleRate }: PacketCodec, granule: number): number {
  const frames = timeline.samplesUntil(granule);
  if (frames > MAX_SECONDS * sampleRate) throw unreadable('The Ogg file says that it is longer than a day.');
  return frames;
}

/** AUDIO_UNREADABLE when consecutive links differ in channels or sample rate. */
export function requireSameShape(from: PacketCodec, to: PacketCodec): void {
  if (from.channels === to.channels && from.sampleRate === to.sampleRate) return;
  const describe = ({ channels, sampleRate }: PacketCodec): string => `${channels} channel(s) at ${sampleRate} Hz`;
  throw unreadable(
    `The Ogg file changes from ${describe(from)} to ${describe(to)} in the middle. Convert it to one of them.`,
  );
}

/**
 * Null when the page is not near the end of the file, or the file has more than one link. Links are distinguished by
 * their serial numbers (RFC 3533, section 4). If they share one, the length is right only when the last link is short.
 */
async function lastPage(
  source: Source,
  { link, offset }: PacketGroup,
): Promise<{ granule: number; offset: number } | null> {
  for (const length of TAIL_BYTES) {
    const start = Math.max(0, source.sizeBytes - length);
    let last: { granule: number; offset: number } | null = null;
    for (const page of pagesFromEnd(await source.read(start, source.sizeBytes))) {
      const begins = page.first && start + page.at > offset;
      if (begins || !link.serials.has(page.serial)) return null;
      if (last === null && page.serial === link.serial && page.granule !== null) {
        last = { granule: page.granule, offset: start + page.at };
      }
    }
    if (last !== null && last.offset >= offset) return last;
    if (start === 0) break;
  }
  return null;
}

async function countFrames(source: Source): Promise<number> {
  let before = 0;
  let link: Link | null = null;
  let timeline: Timeline | null = null;
  let frames = 0;
  for await (const group of packetGroups(source)) {
    if (link !== group.link || timeline === null) {
      if (link !== null) requireSameShape(link.codec, group.link.codec);
      before += frames;
      link = group.link;
      timeline = timelineOf(group);
    }
    frames = lengthOf(timeline, link.codec, group.granule);
  }
  return before + frames;
}

/** The part of a link's decoded samples that is audio. */
export interface Timeline {
  /** Samples to drop at the beginning. */
  readonly skip: number;
  /** The number of audio samples up to a granule position. */
  samplesUntil(granule: number): number;
}

/**
 * Built from a link's first packet group: its granule position and the length of its packets give the granule position
 * at the beginning of the link. A beginning above zero means that the stream was cut out of a longer one. A beginning
 * below zero means that the first samples are to be dropped, unless the first group is also the last: then the samples
 * at the end are to be dropped instead.
 */
export function timelineOf({ link, samples, granule, last }: PacketGroup): Timeline {
  const { skip } = link.codec;
  const beginning = granule - samples.reduce((sum, count) => sum + count, 0);
  const dropped = beginning < 0 && !last ? -beginning : 0;
  const offset = Math.max(0, beginning);
  return { skip: skip + dropped, samplesUntil: (at) => Math.max(0, at - offset - skip) };
}
