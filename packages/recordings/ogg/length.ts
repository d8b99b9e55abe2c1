import { unreadable } from '../faults.ts';
import type { Source } from '../recording.ts';
import type { Codec } from './codec.ts';
import { firstStretch, type Link, type Stretch, stretches } from './links.ts';
import { pagesFromEnd } from './pages.ts';
import { type Timeline, timelineOf } from './timeline.ts';

/** The last page is looked for in the last so many bytes, then in more. Most pages are smaller than the first. */
const TAILS = [16_384, 180_000];
/** A clock that says more is wrong, and believing it would make hours of silence out of a few bytes. */
const MAX_SECONDS = 86_400;

export interface Measured {
  readonly codec: Codec;
  /** Samples of sound in all links. */
  readonly frames: number;
}

/** From the first and the last page where that can be known from them, else from all. */
export async function measure(source: Source): Promise<Measured> {
  const first = await firstStretch(source);
  if (first === null) throw unreadable('The Ogg holds not one whole page of sound.');
  const { codec } = first.link;
  const end = await lastPage(source, first);
  const frames =
    end === null
      ? await countFrames(source)
      : lengthOf(timelineOf({ ...first, last: end.offset === first.offset }), codec, end.granule);
  return { codec, frames };
}

/** Samples up to the granule. AUDIO_UNREADABLE when no recording is that long. */
export function lengthOf(timeline: Timeline, { sampleRate }: Codec, granule: number): number {
  const frames = timeline.until(granule);
  if (frames > MAX_SECONDS * sampleRate) throw unreadable('The Ogg says that it is longer than a day.');
  return frames;
}

/** Throws AUDIO_UNREADABLE when a link cannot go on from another. */
export function mustGoOn(from: Codec, to: Codec): void {
  if (from.channels === to.channels && from.sampleRate === to.sampleRate) return;
  const say = ({ channels, sampleRate }: Codec): string => `${channels} channel(s) at ${sampleRate} Hz`;
  throw unreadable(`The Ogg changes from ${say(from)} to ${say(to)} in the middle. Convert it to one of them.`);
}

/**
 * Null when it is not near the end of the file, or the file has more than one link. Links tell themselves apart by
 * their serial numbers (RFC 3533, section 4); a file whose links do not is counted right only when the last is short.
 */
async function lastPage(
  source: Source,
  { link, offset }: Stretch,
): Promise<{ granule: number; offset: number } | null> {
  for (const length of TAILS) {
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
  for await (const stretch of stretches(source)) {
    if (link !== stretch.link || timeline === null) {
      if (link !== null) mustGoOn(link.codec, stretch.link.codec);
      before += frames;
      link = stretch.link;
      timeline = timelineOf(stretch);
    }
    frames = lengthOf(timeline, link.codec, stretch.granule);
  }
  return before + frames;
}
