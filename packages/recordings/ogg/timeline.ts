import type { Stretch } from './links.ts';

/** What of a link's decoded samples is sound. */
export interface Timeline {
  /** Samples to drop at the beginning. */
  readonly skip: number;
  /** Samples of sound up to a granule. */
  until(granule: number): number;
}

/**
 * Found from a link's first stretch: its granule and what its packets give tell what the clock said at the beginning. A
 * clock that began above zero belongs to a stream that was cut out of a longer one; below zero, to one whose first
 * samples are not meant to be heard, save when the first stretch is also the last, whose end is what is not meant.
 */
export function timelineOf({ link, samples, granule, last }: Stretch): Timeline {
  const { skip } = link.codec;
  const began = granule - samples.reduce((sum, count) => sum + count, 0);
  const early = began < 0 && !last ? -began : 0;
  const late = Math.max(0, began);
  return { skip: skip + early, until: (at) => Math.max(0, at - late - skip) };
}
