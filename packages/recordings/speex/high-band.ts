import { SUBFRAMES, type Band } from './band.ts';
import { BandMerger, bounded, rootMeanSquare, SynthesisFilter } from './filters.ts';
import { takeHighMode, type HighMode } from './high-modes.ts';
import { addShapes } from './innovation.ts';
import { HIGH_ORDER, interpolate, takeHighSpectrum, toCoefficients } from './line-spectrum.ts';
import { Noise } from './noise.ts';
import type { PacketBits } from './packet-bits.ts';

const SPECTRUM_MARGIN = 0.05;
/** Keeps the ratio of two filters from resting on next to nothing. */
const EDGE_FLOOR = 0.01;
/** Keeps a band that says nothing from dying away into numbers that processors are slow at. */
const FAINTEST = 1e-15;
/** By how much an innovation's strength may exceed that of the band below, before the format's factor of 0.8736. */
const STRENGTHS = [
  0.97979, 1.28384, 1.68223, 2.20426, 2.88829, 3.78458, 4.959, 6.49787, 8.51428, 11.15642, 14.61846, 19.15484, 25.09895,
  32.88761, 43.09325, 56.46588,
] as const;

/** One more octave on top of the bands below: 4 to 8 kHz, or 8 to 16 kHz. */
export class HighBand implements Band {
  readonly frameSize: number;
  readonly innovation: Float64Array;
  readonly edges = new Float64Array(SUBFRAMES);

  readonly #below: Band;
  readonly #modes: readonly (HighMode | null)[];
  /** How much of the band below is heard when it is folded up. */
  readonly #folding: number;
  readonly #size: number;
  readonly #subframe: number;
  readonly #noise = new Noise();
  readonly #filter = new SynthesisFilter(HIGH_ORDER);
  readonly #merger: BandMerger;
  readonly #coefficients = new Float64Array(HIGH_ORDER);
  readonly #oldSpectrum = new Float64Array(HIGH_ORDER);
  /** This frame's, after the last subframe of the frame before: the output runs a subframe late. */
  readonly #excitation: Float64Array;
  readonly #high: Float64Array;
  readonly #output: Float64Array;
  #hasOldSpectrum = false;
  /** Of the last frame that was spoken. */
  #strength = 0;

  constructor(below: Band, modes: readonly (HighMode | null)[], folding: number) {
    this.#below = below;
    this.#modes = modes;
    this.#folding = folding;
    this.#size = below.frameSize;
    this.#subframe = this.#size / SUBFRAMES;
    this.#merger = new BandMerger(this.#size);
    this.frameSize = 2 * this.#size;
    this.innovation = new Float64Array(this.frameSize);
    this.#excitation = new Float64Array(this.#subframe + this.#size);
    this.#high = new Float64Array(this.#size);
    this.#output = new Float64Array(this.frameSize);
  }

  get isComfortNoise(): boolean {
    return this.#below.isComfortNoise;
  }

  excitationStrength(subframe: number): number {
    return rootMeanSquare(this.#excitation, (subframe + 1) * this.#subframe, this.#subframe);
  }

  decode(bits: PacketBits): Float64Array | null {
    const low = this.#below.decode(bits);
    if (low === null) return null;
    // A frame may come without its upper bands.
    const isSpoken = bits.remaining > 0 && bits.peek() === 1;
    if (isSpoken) bits.skip(1);
    const mode = isSpoken ? takeHighMode(bits, this.#modes) : null;
    if (mode) this.#decodeFrame(bits, mode);
    else this.#fadeOut();
    this.#merger.run(low, this.#high, this.#output);
    return this.#output;
  }

  #fadeOut(): void {
    const isNoise = this.isComfortNoise;
    for (let i = 0; i < this.#size; i += 1) this.#high[i] = isNoise ? this.#noise.next(this.#strength) : FAINTEST;
    this.#filter.run(this.#coefficients, this.#high, 0, this.#high, 0, this.#size);
    this.innovation.fill(0);
    this.#hasOldSpectrum = false;
  }

  #decodeFrame(bits: PacketBits, mode: HighMode): void {
    const subframe = this.#subframe;
    const spectrum = new Float64Array(HIGH_ORDER);
    takeHighSpectrum(bits, spectrum);
    if (!this.#hasOldSpectrum) this.#oldSpectrum.set(spectrum);

    const between = new Float64Array(HIGH_ORDER);
    const next = new Float64Array(HIGH_ORDER);
    this.innovation.fill(0);
    this.#excitation.copyWithin(0, this.#size);
    let energy = 0;
    for (let part = 0; part < SUBFRAMES; part += 1) {
      interpolate(this.#oldSpectrum, spectrum, (part + 1) / SUBFRAMES, SPECTRUM_MARGIN, between);
      toCoefficients(between, next);
      const start = part * subframe;
      this.#takeExcitation(bits, mode, part, this.#edges(next, part));
      this.#filter.run(this.#coefficients, this.#excitation, start, this.#high, start, subframe);
      this.#coefficients.set(next);
      energy += this.excitationStrength(part) ** 2 / SUBFRAMES;
    }
    this.#strength = Math.sqrt(energy);
    this.#oldSpectrum.set(spectrum);
    this.#hasOldSpectrum = true;
  }

  /** Where this band meets the one below, the ratio of the two filters' gains; notes the edge to the band above. */
  #edges(coefficients: Float64Array, part: number): number {
    let lower = 1;
    let upper = 1;
    for (let i = 0; i < HIGH_ORDER; i += 2) {
      lower += coefficients[i + 1]! - coefficients[i]!;
      // A high band lies upside down: its upper edge is where its filter has frequency 0.
      upper += coefficients[i + 1]! + coefficients[i]!;
    }
    this.edges[part] = upper;
    return (this.#below.edges[part]! + EDGE_FLOOR) / (lower + EDGE_FLOOR);
  }

  #takeExcitation(bits: PacketBits, mode: HighMode, part: number, ratio: number): void {
    const subframe = this.#subframe;
    const start = part * subframe;
    const at = subframe + start;
    const excitation = this.#excitation;
    excitation.fill(0, at, at + subframe);
    if (mode.shapes === null) {
      const gain = (this.#folding * Math.exp(0.125 * (bits.take(5) - 10))) / ratio;
      for (let i = 0; i < subframe; i += 1) {
        excitation[at + i] = (i % 2 === 0 ? gain : -gain) * this.#below.innovation[start + i]!;
      }
    } else {
      const scale = (0.8736 * STRENGTHS[bits.take(4)]! * this.#below.excitationStrength(part)) / ratio;
      addShapes(bits, mode.shapes, scale, excitation, at, subframe);
      if (mode.isRefined) addShapes(bits, mode.shapes, 0.4 * scale, excitation, at, subframe);
    }
    for (let i = 0; i < subframe; i += 1) {
      const sample = bounded(excitation[at + i]!);
      excitation[at + i] = sample;
      this.innovation[2 * (start + i)] = sample;
    }
  }
}
