import { SUBFRAMES, type Band } from './band.ts';
import { broken } from './broken.ts';
import { sharpen } from './comb.ts';
import { HighPass, rootMeanSquare, SynthesisFilter } from './filters.ts';
import { skipHighBand } from './high-modes.ts';
import { addShapes } from './innovation.ts';
import { interpolate, NARROW_ORDER, takeNarrowSpectrum, toCoefficients } from './line-spectrum.ts';
import { NARROW_MODES, VOCODER, type NarrowMode, type PitchGains } from './narrow-modes.ts';
import { Noise } from './noise.ts';
import type { PacketBits } from './packet-bits.ts';
import { skipMessage, takeRequest } from './request.ts';
import type { IntensityStereo } from './stereo.ts';

const FRAME = 160;
const SUBFRAME = FRAME / SUBFRAMES;
const SHORTEST_PITCH = 17;
const PITCH_BITS = 7;
const LONGEST_PITCH = SHORTEST_PITCH + 2 ** PITCH_BITS - 1;
/** Past excitation that the pitch and the comb reach back for: the output runs a subframe late. */
const PAST = SUBFRAME + 2 * LONGEST_PITCH + 6;
/** The comb looks so far past the frame, into silence. */
const FUTURE = 6;
const LOUDEST_PITCH = 32_000;
const SPECTRUM_MARGIN = 0.002;

/** Whether a high band follows, then the mode. What is shorter is padding. */
const HEAD_BITS = 5;
const TERMINATOR = 15;
const REQUEST = 14;
const MESSAGE = 13;
/** Pattern of the extra bits of the vocoder mode while the encoder sends nothing else. */
const COMFORT_NOISE = 15;

/** The lowest 4 kHz: code-excited linear prediction at 8 kHz. */
export class NarrowBand implements Band {
  readonly frameSize = FRAME;
  readonly innovation = new Float64Array(FRAME);
  readonly edges = new Float64Array(SUBFRAMES);
  isComfortNoise = false;

  readonly #stereo: IntensityStereo;
  readonly #highPass: HighPass;
  readonly #noise = new Noise();
  readonly #filter = new SynthesisFilter(NARROW_ORDER);
  readonly #coefficients = new Float64Array(NARROW_ORDER);
  readonly #oldSpectrum = new Float64Array(NARROW_ORDER);
  readonly #excitation = new Float64Array(PAST + FRAME + FUTURE);
  readonly #output = new Float64Array(FRAME);
  readonly #vocoder = new Vocoder();
  #hasOldSpectrum = false;

  /** `stereo` hears the requests between the frames. */
  constructor(stereo: IntensityStereo, hasBandsAbove: boolean) {
    this.#stereo = stereo;
    this.#highPass = new HighPass(hasBandsAbove ? HighPass.WIDE : HighPass.NARROW);
  }

  excitationStrength(subframe: number): number {
    return rootMeanSquare(this.#excitation, PAST + subframe * SUBFRAME, SUBFRAME);
  }

  decode(bits: PacketBits): Float64Array | null {
    const number = this.#findFrame(bits);
    if (number === null) return null;
    this.#excitation.copyWithin(0, FRAME);
    const mode = NARROW_MODES[number];
    if (mode) this.#decodeFrame(bits, mode, number === VOCODER);
    else this.#fadeOut();
    return this.#output;
  }

  /** The mode of the next frame. Bands that lie above the last one, and that nobody asked for, are skipped. */
  #findFrame(bits: PacketBits): number | null {
    for (;;) {
      for (let above = 0; ; above += 1) {
        if (bits.remaining < HEAD_BITS) return null;
        if (bits.take(1) === 0) break;
        if (above === 2) throw broken('a frame has more than three bands');
        skipHighBand(bits);
      }
      const mode = bits.take(4);
      if (mode < NARROW_MODES.length) return mode;
      if (mode === TERMINATOR) return null;
      if (mode === REQUEST) takeRequest(bits, this.#stereo);
      else if (mode === MESSAGE) skipMessage(bits);
      else throw broken(`a frame is of mode ${mode}`);
    }
  }

  /** A frame without a word: noise as strong as what was last heard, through a filter that flattens. */
  #fadeOut(): void {
    const flattened = this.#coefficients.map((coefficient, i) => coefficient * 0.93 ** (i + 1));
    const strength = rootMeanSquare(this.#excitation, PAST, FRAME);
    for (let i = 0; i < FRAME; i += 1) this.#excitation[PAST + i] = this.#noise.next(strength);
    this.innovation.fill(0);
    this.#hasOldSpectrum = false;
    this.#filter.run(flattened, this.#excitation, PAST, this.#output, 0, FRAME);
  }

  #decodeFrame(bits: PacketBits, mode: NarrowMode, isVocoder: boolean): void {
    const spectrum = new Float64Array(NARROW_ORDER);
    takeNarrowSpectrum(bits, mode.hasFineSpectrum, spectrum);
    if (!this.#hasOldSpectrum) this.#oldSpectrum.set(spectrum);

    const pitch = this.#takeExcitation(bits, mode, isVocoder);
    for (const [to, from] of [
      [0, PAST - SUBFRAME],
      [FRAME / 2, PAST - SUBFRAME + FRAME / 2],
    ] as const) {
      if (mode.comb > 0) sharpen(this.#excitation, from, pitch, mode.comb, this.#output, to);
      else this.#output.set(this.#excitation.subarray(from, from + FRAME / 2), to);
    }
    this.#synthesise(spectrum);
    this.#highPass.run(this.#output);
    this.#oldSpectrum.set(spectrum);
    this.#hasOldSpectrum = true;
  }

  /** Fills the frame's innovation and excitation; answers the pitch that stands for the frame. */
  #takeExcitation(bits: PacketBits, mode: NarrowMode, isVocoder: boolean): number {
    const sharedPitch = mode.isPitchShared ? SHORTEST_PITCH + bits.take(PITCH_BITS) : null;
    const sharedGain = mode.pitchGains === null ? 0.066667 * bits.take(4) : 0;
    const frameEnergy = Math.exp(bits.take(5) / 3.5);
    this.isComfortNoise = isVocoder && bits.take(4) === COMFORT_NOISE;

    const dominant = new DominantPitch();
    const excitation = this.#excitation;
    const innovation = this.innovation;
    const energyBits = Math.log2(mode.energySteps.length);
    innovation.fill(0);
    for (let start = 0; start < FRAME; start += SUBFRAME) {
      const at = PAST + start;
      const pitch = sharedPitch ?? SHORTEST_PITCH + bits.take(PITCH_BITS);
      const strength =
        mode.pitchGains === null
          ? repeatOnce(excitation, at, pitch, sharedGain)
          : repeat(bits, mode.pitchGains, excitation, at, pitch);
      dominant.hear(pitch, strength);
      for (let i = at; i < at + SUBFRAME; i += 1) {
        excitation[i] = Math.max(-LOUDEST_PITCH, Math.min(excitation[i]!, LOUDEST_PITCH));
      }

      const energy = frameEnergy * mode.energySteps[bits.take(energyBits)]!;
      if (mode.shapes === null) {
        for (let i = start; i < start + SUBFRAME; i += 1) innovation[i] = energy * this.#noise.next(1);
      } else {
        addShapes(bits, mode.shapes, energy, innovation, start, SUBFRAME);
        if (mode.isRefined) addShapes(bits, mode.shapes, 0.454545 * energy, innovation, start, SUBFRAME);
      }
      if (isVocoder && sharedPitch !== null) {
        this.#vocoder.run(innovation, start, sharedPitch, sharedGain, frameEnergy, excitation, at);
      } else {
        for (let i = 0; i < SUBFRAME; i += 1) excitation[at + i]! += innovation[start + i]!;
      }
    }
    return dominant.pitch;
  }

  /** The output, still excitation, becomes sound. It is a subframe late, hence the coefficients of the one before. */
  #synthesise(spectrum: Float64Array): void {
    const between = new Float64Array(NARROW_ORDER);
    for (let subframe = 0; subframe < SUBFRAMES; subframe += 1) {
      const start = subframe * SUBFRAME;
      this.#filter.run(this.#coefficients, this.#output, start, this.#output, start, SUBFRAME);
      interpolate(this.#oldSpectrum, spectrum, (subframe + 1) / SUBFRAMES, SPECTRUM_MARGIN, between);
      toCoefficients(between, this.#coefficients);
      let edge = 1;
      for (let i = 0; i < NARROW_ORDER; i += 2) edge += this.#coefficients[i + 1]! - this.#coefficients[i]!;
      this.edges[subframe] = edge;
    }
  }
}

/** A subframe as the sum of the excitation at three neighbouring lags; answers how strongly it repeats. */
function repeat(bits: PacketBits, gains: PitchGains, excitation: Float64Array, at: number, pitch: number): number {
  const entry = bits.take(gains.indexBits) * 4;
  // The first gain of an entry belongs to the shortest lag.
  const gain = (i: number): number => gains.entries[entry + i]! / 64 + 0.5;
  const repeated = new Float64Array(SUBFRAME);
  for (let i = 0; i < 3; i += 1) {
    const lag = pitch - 1 + i;
    const factor = gain(i);
    // What lies ahead of the subframe's start is not known yet: the period before it stands in.
    for (let j = 0; j < SUBFRAME && j < lag + pitch; j += 1) {
      repeated[j]! += factor * excitation[at + j - (j < lag ? lag : lag + pitch)]!;
    }
  }
  excitation.set(repeated, at);
  const outer = (value: number): number => (value > 0 ? value : -0.5 * value);
  return Math.abs(gain(1)) + outer(gain(0)) + outer(gain(2));
}

/** The same with one gain at one lag. */
function repeatOnce(excitation: Float64Array, at: number, pitch: number, gain: number): number {
  const strength = Math.min(gain, 0.99);
  for (let i = at; i < at + SUBFRAME; i += 1) excitation[i] = strength * excitation[i - pitch]!;
  return strength;
}

/** Chooses among the pitches of a frame's subframes, wary of multiples and fractions of the true one. */
class DominantPitch {
  pitch = 40;
  #strength = 0;

  hear(pitch: number, strength: number): void {
    const isMultiple = isMultipleOf(this.pitch, pitch);
    const isFraction = isMultipleOf(pitch, this.pitch);
    if (
      (strength > this.#strength && !isMultiple) ||
      (strength > 0.6 * this.#strength && isFraction) ||
      (0.67 * strength > this.#strength && isMultiple)
    ) {
      this.pitch = pitch;
      this.#strength = Math.max(strength, this.#strength);
    }
  }
}

/** Whether `long` is about two, three or four times `short`. */
function isMultipleOf(short: number, long: number): boolean {
  return Math.abs(long - 2 * short) < 3 || Math.abs(long - 3 * short) < 4 || Math.abs(long - 4 * short) < 5;
}

/** Pulses at the pitch, smoothed, and the more noise the less voice there is. */
class Vocoder {
  #nextPulse = 0;
  #lastPulse = 0;
  #lastNoise = 0;
  #mean = 0;

  run(
    noise: Float64Array,
    noiseStart: number,
    pitch: number,
    pitchGain: number,
    energy: number,
    excitation: Float64Array,
    at: number,
  ): void {
    const voice = Math.max(0, Math.min(1.5 * (pitchGain - 0.2), 1));
    excitation.fill(0, at, at + SUBFRAME);
    for (; this.#nextPulse < SUBFRAME; this.#nextPulse += pitch) {
      excitation[at + this.#nextPulse] = Math.sqrt(2 * pitch) * voice * energy;
    }
    this.#nextPulse -= SUBFRAME;

    for (let i = 0; i < SUBFRAME; i += 1) {
      const pulse = excitation[at + i]!;
      const hiss = noise[noiseStart + i]!;
      const sample = 0.7 * pulse + 0.3 * this.#lastPulse + (1 - 0.85 * voice) * hiss - 0.15 * voice * this.#lastNoise;
      this.#lastPulse = pulse;
      this.#lastNoise = hiss;
      this.#mean = 0.8 * this.#mean + 0.2 * sample;
      excitation[at + i] = sample - this.#mean;
    }
  }
}
