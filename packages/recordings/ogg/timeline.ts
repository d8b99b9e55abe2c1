import type { PacketGroup } from './links.ts';

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
