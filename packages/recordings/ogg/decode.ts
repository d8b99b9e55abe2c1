import { unreadable } from '../faults.ts';
import type { Samples, Source } from '../recording.ts';
import type { PacketDecoder } from './codec.ts';
import { lengthOf, mustGoOn } from './length.ts';
import { type Link, type Stretch, stretches } from './links.ts';
import { type Timeline, timelineOf } from './timeline.ts';

const SAMPLES_AT_ONCE = 8_192;
const SILENCE_AT_ONCE = 65_536;
/** Telephone systems that leave out silence leave out minutes of it; more is a clock gone wrong. */
const MAX_SILENT_SECONDS = 3_600;

/**
 * The sound of all links. Each stretch is made to end when its page says: with silence before it, or cut at its end.
 */
export async function* decode(source: Source): AsyncGenerator<Samples> {
  let playing: Playing | null = null;
  let empty = true;
  try {
    for await (const stretch of stretches(source)) {
      if (playing === null || playing.link !== stretch.link) {
        if (playing !== null) mustGoOn(playing.link.codec, stretch.link.codec);
        playing?.close();
        playing = null;
        playing = new Playing(stretch, await stretch.link.codec.open());
      }
      for await (const samples of playing.play(stretch)) {
        empty = false;
        yield samples;
      }
    }
    if (empty) throw unreadable('The Ogg holds not one sample of sound.');
  } finally {
    playing?.close();
  }
}

class Playing {
  readonly link: Link;
  readonly #decoder: PacketDecoder;
  readonly #timeline: Timeline;
  #toSkip: number;
  #given = 0;
  #silence = 0;

  constructor(first: Stretch, decoder: PacketDecoder) {
    this.link = first.link;
    this.#decoder = decoder;
    this.#timeline = timelineOf(first);
    this.#toSkip = this.#timeline.skip;
  }

  async *play({ packets, samples, granule }: Stretch): AsyncGenerator<Samples> {
    const end = lengthOf(this.#timeline, this.link.codec, granule);
    if (end < this.#given) throw unreadable('The Ogg is broken: its clock runs backwards.');
    const coming = samples.reduce((sum, count) => sum + count, 0) - this.#toSkip;
    yield* this.#silent(end - this.#given - Math.max(0, coming));

    for (let from = 0; from < packets.length;) {
      let to = from;
      for (let count = 0; to < packets.length && count < SAMPLES_AT_ONCE; to++) count += samples[to] ?? 0;
      const decoded = await this.#decoder.decode(packets.slice(from, to));
      from = to;
      const length = decoded[0]?.length ?? 0;
      const skipped = Math.min(this.#toSkip, length);
      this.#toSkip -= skipped;
      const kept = Math.min(length - skipped, end - this.#given);
      if (kept <= 0) continue;
      this.#given += kept;
      yield this.#samples(decoded.map((each) => each.subarray(skipped, skipped + kept)));
    }
    yield* this.#silent(end - this.#given);
  }

  close(): void {
    this.#decoder.close();
  }

  *#silent(frames: number): Generator<Samples> {
    if (frames <= 0) return;
    this.#silence += frames;
    if (this.#silence > MAX_SILENT_SECONDS * this.link.codec.sampleRate) {
      throw unreadable('The Ogg is broken: more than an hour of it is missing.');
    }
    for (let left = frames; left > 0; left -= SILENCE_AT_ONCE) {
      const count = Math.min(left, SILENCE_AT_ONCE);
      this.#given += count;
      yield this.#samples(Array.from({ length: this.link.codec.channels }, () => new Float32Array(count)));
    }
  }

  #samples(channels: Float32Array[]): Samples {
    return { sampleRate: this.link.codec.sampleRate, channels };
  }
}
