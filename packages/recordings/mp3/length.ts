import type { Mp3Start } from './frames.ts';
import type { VbrTag } from './vbr-tag.ts';

/** The delay of every decoder, in samples (LAME's "decoder delay"). */
const DECODER_DELAY = 529;

/** The part of the decoded samples that is audio. */
interface Length {
  /** Samples to drop at the beginning. */
  readonly skip: number;
  /** Samples of audio after those. */
  readonly frames: number;
}

/**
 * The length of `found` complete frames as ffmpeg counts it: without the encoder's delay and padding where the tag has
 * them. A file with fewer frames than its tag says was cut off, and one with more is a concatenation; neither ends with
 * the padding that the tag gives.
 */
export function lengthOf({ header, tag }: Mp3Start, found: number): Length {
  const gaps = tag?.gaps ?? null;
  const declared = tag?.frames ?? null;
  const skip = gaps === null ? 0 : gaps.before + DECODER_DELAY;
  const padding = found === declared ? paddingOf(tag) : 0;
  return { skip, frames: Math.max(0, found * header.samples - skip - padding) };
}

/** Samples after the audio in a file that ends as its tag says. */
export function paddingOf(tag: VbrTag | null): number {
  return tag === null || tag.gaps === null ? 0 : Math.max(0, tag.gaps.after - DECODER_DELAY);
}

/** The number of frames in the encoder's tag if it agrees with the size of the file; otherwise null. */
export function framesByTag({ header, tag, firstFrame, end }: Mp3Start): number | null {
  if (tag === null || tag.frames === null || tag.bytes === null || tag.frames === 0) return null;
  const bytes = end - firstFrame;
  // A smaller file was cut off and a larger one was added to. Encoders differ by one frame in counting their tag.
  if (tag.bytes > bytes || bytes - tag.bytes > header.sizeBytes) return null;
  const perFrame = tag.bytes / tag.frames;
  const [least, most] = header.version === 1 ? [96, 1_441] : [24, 1_441];
  return perFrame < least || perFrame > most ? null : tag.frames;
}
