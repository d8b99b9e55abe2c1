import type { Opening } from './frames.ts';
import type { VbrTag } from './vbr-tag.ts';

/** Every decoder's output lags so many samples behind the encoder's input (LAME's "decoder delay"). */
const DECODER_DELAY = 529;

/** What of the decoded samples is sound. */
export interface Length {
  /** Samples to drop at the beginning. */
  readonly skip: number;
  /** Samples that are sound after those. */
  readonly frames: number;
}

/**
 * What `found` whole frames hold, as ffmpeg counts it: without the encoder's delay and padding where its tag tells
 * them. A file that has fewer frames than the tag says was cut, and one that has more is several files in one; neither
 * ends in the padding of the tag.
 */
export function lengthOf({ header, tag }: Opening, found: number): Length {
  const gaps = tag?.gaps ?? null;
  const said = tag?.frames ?? null;
  const skip = gaps === null ? 0 : gaps.before + DECODER_DELAY;
  const padding = found === said ? paddingOf(tag) : 0;
  return { skip, frames: Math.max(0, found * header.samples - skip - padding) };
}

/** Samples after the sound in a file that ends as its tag says. */
export function paddingOf(tag: VbrTag | null): number {
  return tag === null || tag.gaps === null ? 0 : Math.max(0, tag.gaps.after - DECODER_DELAY);
}

/** How many frames the encoder's tag says there are, when the size of the file bears it out; else null. */
export function framesByTag({ header, tag, firstFrame, end }: Opening): number | null {
  if (tag === null || tag.frames === null || tag.bytes === null || tag.frames === 0) return null;
  const bytes = end - firstFrame;
  // Less was cut off, much more was added; a frame's worth is how differently encoders count their own tag.
  if (tag.bytes > bytes || bytes - tag.bytes > header.sizeBytes) return null;
  const perFrame = tag.bytes / tag.frames;
  const [least, most] = header.version === 1 ? [96, 1_441] : [24, 1_441];
  return perFrame < least || perFrame > most ? null : tag.frames;
}
