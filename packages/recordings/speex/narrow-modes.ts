import {
  PITCH_GAINS,
  PITCH_GAINS_COARSE,
  SHAPES_128_OF_8,
  SHAPES_16_OF_10,
  SHAPES_256_OF_5,
  SHAPES_32_OF_10,
  SHAPES_32_OF_20,
  SHAPES_64_OF_5,
} from './codebooks.ts';
import type { Shapes } from './innovation.ts';

/** Triples of gains around the pitch, four numbers apart. */
export interface PitchGains {
  readonly indexBits: number;
  readonly entries: Int8Array;
}

/** How a mode of the narrow band spends its bits ("The Speex Codec Manual", "Speex narrowband mode"). */
export interface NarrowMode {
  readonly hasFineSpectrum: boolean;
  /** One pitch for the frame rather than one for each subframe. */
  readonly isPitchShared: boolean;
  /** Null: one gain for the frame, without a codebook. */
  readonly pitchGains: PitchGains | null;
  /** By what a subframe's energy may differ from the frame's; a single step costs no bits. */
  readonly energySteps: readonly number[];
  /** Null: noise. */
  readonly shapes: Shapes | null;
  /** Whether a second innovation corrects the first. */
  readonly isRefined: boolean;
  /** The depth of the comb that takes noise out between the harmonics; 0 for none. */
  readonly comb: number;
}

const fineGains: PitchGains = { indexBits: 7, entries: PITCH_GAINS };
const coarseGains: PitchGains = { indexBits: 5, entries: PITCH_GAINS_COARSE };

const sameEnergy = [1];
const twoEnergies = [0.70469, 1.05127];
const eightEnergies = [0.06113, 0.163546, 0.310413, 0.42822, 0.555887, 0.719055, 0.938694, 1.326874];

const shapes64of5: Shapes = { length: 5, indexBits: 6, isSigned: false, entries: SHAPES_64_OF_5 };
const shapes256of5: Shapes = { length: 5, indexBits: 8, isSigned: false, entries: SHAPES_256_OF_5 };
const shapes128of8: Shapes = { length: 8, indexBits: 7, isSigned: false, entries: SHAPES_128_OF_8 };
const shapes16of10: Shapes = { length: 10, indexBits: 4, isSigned: false, entries: SHAPES_16_OF_10 };
const shapes32of10: Shapes = { length: 10, indexBits: 5, isSigned: false, entries: SHAPES_32_OF_10 };
const shapes32of20: Shapes = { length: 20, indexBits: 5, isSigned: false, entries: SHAPES_32_OF_20 };

const low = {
  hasFineSpectrum: false,
  isPitchShared: true,
  pitchGains: null,
  energySteps: sameEnergy,
  isRefined: false,
} as const;
const medium = { ...low, isPitchShared: false, pitchGains: coarseGains, energySteps: twoEnergies } as const;
const high = { ...medium, hasFineSpectrum: true, pitchGains: fineGains, energySteps: eightEnergies } as const;

/** The mode that is a synthesiser of pulses and noise rather than a waveform coder. */
export const VOCODER = 1;

/** By number, which is not the order of their rates. Mode 0 says nothing: noise as before, dying away. */
export const NARROW_MODES: readonly (NarrowMode | null)[] = [
  null,
  { ...low, shapes: null, comb: 0 },
  { ...low, pitchGains: coarseGains, shapes: shapes16of10, comb: 0.6 },
  { ...medium, shapes: shapes32of10, comb: 0.55 },
  { ...medium, shapes: shapes128of8, comb: 0.45 },
  { ...high, shapes: shapes64of5, comb: 0.25 },
  { ...high, shapes: shapes256of5, comb: 0.15 },
  { ...high, shapes: shapes64of5, isRefined: true, comb: 0.05 },
  { ...low, shapes: shapes32of20, comb: 0.5 },
];
