import type { PacketBits } from './packet-bits.ts';

/** A frame, 20 ms, falls into so many parts. */
export const SUBFRAMES = 4;

/** Some octave of the spectrum together with all that lies below, as a decoder sees it from above. */
export interface Band {
  /** Samples of a frame. */
  readonly frameSize: number;
  /** The filters' input in the last frame, a sample for a sample. */
  readonly innovation: Float64Array;
  /** For each subframe of the last frame, 1 / the filter's gain at the upper edge of the band. */
  readonly edges: Float64Array;
  /** Whether the encoder has stopped sending and lets the decoder make up the noise. */
  readonly isComfortNoise: boolean;
  /** The strength of the filters' input in a subframe of the last frame. */
  excitationStrength(subframe: number): number;
  /**
   * The next frame of the packet at the scale of 16-bit samples, in an array that the next call fills again; null when
   * the packet holds no more.
   */
  decode(bits: PacketBits): Float64Array | null;
}
