import { unreadable, wrongContent } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import type { PacketCodec, PacketDecoder } from './codecs/packet-codec.ts';
import { firstPacketGroup, type Link, type PacketGroup, packetGroups } from './links.ts';
import { isPageStart, pagesFromEnd } from './page.ts';

/**
 * Ogg with Vorbis, Opus or FLAC. The granule positions of the pages define the length, and the decoder produces exactly
 * that length: a jump of the granule position becomes silence. Streams other than the first supported audio stream are
 * ignored.
 */
export const ogg: Container = {
  format: 'ogg',
  async probe(source): Promise<RecordingInfo> {
    await requireOgg(source);
    const { codec, frames } = await measure(source);
    if (frames <= 0) throw unreadable('The Ogg file holds no sample of audio.');
    const { name, channels, sampleRate } = codec;
    return { format: 'ogg', codec: name, channels, sampleRate, frames, duration: frames / sampleRate };
  },
  async *decode(source): AsyncGenerator<Samples> {
    await requireOgg(source);
    yield* decodeLinks(source);
  },
};

async function requireOgg(source: Source): Promise<void> {
  if (!isPageStart(await source.read(0, 4), 0)) throw wrongContent('ogg');
}

const SAMPLES_PER_PIECE = 8_192;
const SILENCE_PER_PIECE = 65_536;
/** Telephone systems leave out minutes of silence. A longer gap is a wrong granule position. */
const MAX_SILENT_SECONDS = 3_600;

/**
 * The samples of all links. Every packet group ends at the granule position of its page: silence is inserted before the
 * group, or its end is cut.
 */
async function* decodeLinks(source: Source): AsyncGenerator<Samples> {
  let decoder: LinkDecoder | null = null;
  let empty = true;
  try {
    for await (const group of packetGroups(source)) {
      if (decoder === null || decoder.link !== group.link) {
        if (decoder !== null) requireSameShape(decoder.link.codec, group.link.codec);
        decoder?.close();
        decoder = null;
        decoder = new LinkDecoder(group, await group.link.codec.open());
      }
      for await (const samples of decoder.decode(group)) {
        empty = false;
        yield samples;
      }
    }
    if (empty) throw unreadable('The Ogg file holds no sample of audio.');
  } finally {
    decoder?.close();
  }
}

class LinkDecoder {
  readonly link: Link;
  readonly #decoder: PacketDecoder;
  readonly #timeline: Timeline;
  #toSkip: number;
  #yielded = 0;
  #silence = 0;

  constructor(first: PacketGroup, decoder: PacketDecoder) {
    this.link = first.link;
    this.#decoder = decoder;
    this.#timeline = timelineOf(first);
    this.#toSkip = this.#timeline.skip;
  }

  async *decode({ packets, samples, granule }: PacketGroup): AsyncGenerator<Samples> {
    const end = lengthOf(this.#timeline, this.link.codec, granule);
    if (end < this.#yielded) throw unreadable('The Ogg file is damaged: its granule positions run backwards.');
    const coming = samples.reduce((sum, count) => sum + count, 0) - this.#toSkip;
    yield* this.#yieldSilence(end - this.#yielded - Math.max(0, coming));

    for (let from = 0; from < packets.length;) {
      let to = from;
      for (let count = 0; to < packets.length && count < SAMPLES_PER_PIECE; to++) count += samples[to] ?? 0;
      const decoded = await this.#decoder.decode(packets.slice(from, to));
      from = to;
      const length = decoded[0]?.length ?? 0;
      const skipped = Math.min(this.#toSkip, length);
      this.#toSkip -= skipped;
      const kept = Math.min(length - skipped, end - this.#yielded);
      if (kept <= 0) continue;
      this.#yielded += kept;
      yield this.#samples(decoded.map((each) => each.subarray(skipped, skipped + kept)));
    }
    yield* this.#yieldSilence(end - this.#yielded);
  }

  close(): void {
    this.#decoder.close();
  }

  *#yieldSilence(frames: number): Generator<Samples> {
    if (frames <= 0) return;
    this.#silence += frames;
    if (this.#silence > MAX_SILENT_SECONDS * this.link.codec.sampleRate) {
      throw unreadable('The Ogg file is damaged: more than an hour of it is missing.');
    }
    for (let left = frames; left > 0; left -= SILENCE_PER_PIECE) {
      const count = Math.min(left, SILENCE_PER_PIECE);
      this.#yielded += count;
      yield this.#samples(Array.from({ length: this.link.codec.channels }, () => new Float32Array(count)));
    }
  }

  #samples(channels: Float32Array[]): Samples {
    return { sampleRate: this.link.codec.sampleRate, channels };
  }
}

/** The last page is searched in this many bytes at the end of the file, first in few, then in more. */
const TAIL_BYTES = [16_384, 180_000];
/** A longer recording has a wrong granule position, which would turn a few bytes into hours of silence. */
const MAX_SECONDS = 86_400;

/** The samples per channel in all links. Uses the first and the last page where they are enough, otherwise all pages. */
async function measure(source: Source): Promise<{ codec: PacketCodec; frames: number }> {
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
function lengthOf(timeline: Timeline, { sampleRate }: PacketCodec, granule: number): number {
  const frames = timeline.samplesUntil(granule);
  if (frames > MAX_SECONDS * sampleRate) throw unreadable('The Ogg file says that it is longer than a day.');
  return frames;
}

/** AUDIO_UNREADABLE when consecutive links differ in channels or sample rate. */
function requireSameShape(from: PacketCodec, to: PacketCodec): void {
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
type Timeline = ReturnType<typeof timelineOf>;

/**
 * Built from a link's first packet group: its granule position and the length of its packets give the granule position
 * at the beginning of the link. A beginning above zero means that the stream was cut out of a longer one. A beginning
 * below zero means that the first samples are to be dropped, unless the first group is also the last: then the samples
 * at the end are to be dropped instead.
 */
function timelineOf({ link, samples, granule, last }: PacketGroup) {
  const { skip } = link.codec;
  const beginning = granule - samples.reduce((sum, count) => sum + count, 0);
  const dropped = beginning < 0 && !last ? -beginning : 0;
  const offset = Math.max(0, beginning);
  return {
    /** Samples to drop at the beginning. */
    skip: skip + dropped,
    /** The number of audio samples up to a granule position. */
    samplesUntil: (at: number) => Math.max(0, at - offset - skip),
  };
}
