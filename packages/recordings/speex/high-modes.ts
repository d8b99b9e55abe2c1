import { broken } from './broken.ts';
import { HIGH_BAND_SHAPES_128_OF_8, HIGH_BAND_SHAPES_32_OF_10 } from './codebooks.ts';
import type { Shapes } from './innovation.ts';
import type { PacketBits } from './packet-bits.ts';

const HIGH_MODE_BITS = 3;

/** How a mode of a high band spends its bits ("The Speex Codec Manual", "Speex wideband mode"). */
export interface HighMode {
  /** Of a frame, after the mode itself. */
  readonly sizeBits: number;
  /** Null: the band below, folded up. */
  readonly shapes: Shapes | null;
  /** Whether a second innovation corrects the first. */
  readonly isRefined: boolean;
}

const shapes32of10: Shapes = { length: 10, indexBits: 5, isSigned: false, entries: HIGH_BAND_SHAPES_32_OF_10 };
const shapes128of8: Shapes = { length: 8, indexBits: 7, isSigned: true, entries: HIGH_BAND_SHAPES_128_OF_8 };
const folded: HighMode = { sizeBits: 32, shapes: null, isRefined: false };

/** By number; mode 0 says nothing, what is missing does not exist. */
export const WIDE_MODES: readonly (HighMode | null)[] = [
  null,
  folded,
  { sizeBits: 108, shapes: shapes32of10, isRefined: false },
  { sizeBits: 188, shapes: shapes128of8, isRefined: false },
  { sizeBits: 348, shapes: shapes128of8, isRefined: true },
];

/** The band above the wide one is always folded. */
export const ULTRA_WIDE_MODES: readonly (HighMode | null)[] = [null, folded];

export function takeHighMode(bits: PacketBits, modes: readonly (HighMode | null)[]): HighMode | null {
  const number = bits.take(HIGH_MODE_BITS);
  const mode = modes[number];
  if (mode === undefined) throw broken(`a high band is of mode ${number}`);
  return mode;
}

/** Passes over a band whose first bit has been read. */
export function skipHighBand(bits: PacketBits): void {
  bits.skip(takeHighMode(bits, WIDE_MODES)?.sizeBits ?? 0);
}
