import { unreadable, wrongContent } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import type { PacketDecoder } from './codecs/packet-codec.ts';
import { lengthOf, measure, requireSameShape, type Timeline, timelineOf } from './length.ts';
import { type Link, type PacketGroup, packetGroups } from './links.ts';
import { isPageStart } from './page.ts';

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
