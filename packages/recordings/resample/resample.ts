import load, { type SpeexResampler } from '@echogarden/speex-resampler-wasm/simd';
import { unreadable } from '../faults.ts';
import type { Samples } from '../recording.ts';

/**
 * Out of speexdsp's 0 to 10. From 48 to 16 kHz this quality passes everything below 7.2 kHz, attenuates by 100 dB above
 * 8 kHz, and converts a stereo recording at 900 times real time per core (from 44.1 kHz: 300). In the same run a windowed
 * sinc of 160 taps in TypeScript reached a fifth of that speed, libsamplerate in WebAssembly a thirteenth.
 */
const QUALITY = 6;

/** Samples per call of the WebAssembly module. */
const INPUT_SAMPLES = 8192;
const OUTPUT_SAMPLES = 8192;

/**
 * Changes the sample rate, band-limited and without delay: n samples become n · to / from, give or take one. All samples
 * must have the rate of the first. Memory does not grow with the length.
 */
export async function* resample(samples: AsyncIterable<Samples>, toRate: number): AsyncGenerator<Samples> {
  const resamplers: Resampler[] = [];
  let fromRate: number | null = null;
  try {
    for await (const piece of samples) {
      fromRate ??= piece.sampleRate;
      if (piece.sampleRate !== fromRate) throw unreadable('The sample rate changes within the recording.');
      if (fromRate === toRate) {
        yield piece;
        continue;
      }
      while (resamplers.length < piece.channels.length) resamplers.push(await openResampler(fromRate, toRate));
      const channels = resamplers.map((each, channel) => each.push(piece.channels[channel]!));
      if (channels[0]!.length > 0) yield { sampleRate: toRate, channels };
    }
    const last = resamplers.map((each) => each.end());
    if (last[0] && last[0].length > 0) yield { sampleRate: toRate, channels: last };
  } finally {
    for (const each of resamplers) each.close();
  }
}

let loading: Promise<SpeexResampler> | undefined;

export async function openResampler(fromRate: number, toRate: number): Promise<Resampler> {
  loading ??= load();
  return new Resampler(await loading, fromRate, toRate);
}

/** Resamples one channel, piece by piece. Holds memory until it is closed. */
class Resampler {
  readonly #speex: SpeexResampler;
  readonly #state: number;
  /** A block of the module's memory: the two lengths, then the input, then the output. */
  readonly #memory: number;
  readonly #ratio: number;
  #taken = 0;
  #given = 0;
  #closed = false;

  constructor(speex: SpeexResampler, fromRate: number, toRate: number) {
    this.#speex = speex;
    this.#ratio = toRate / fromRate;
    this.#memory = speex._malloc(8 + 4 * (INPUT_SAMPLES + OUTPUT_SAMPLES));
    if (this.#memory === 0) throw new Error('The module has no memory left for a resampler.');
    this.#state = speex._speex_resampler_init(1, fromRate, toRate, QUALITY, this.#memory);
    if (this.#state === 0) {
      speex._free(this.#memory);
      throw new Error(`Cannot resample from ${fromRate} to ${toRate} Hz.`);
    }
    speex._speex_resampler_skip_zeros(this.#state);
  }

  /** Returns the output so far. A few samples are held back because they depend on those that follow. */
  push(samples: Float32Array): Float32Array {
    this.#taken += samples.length;
    return this.#process(samples);
  }

  /** Returns the rest of the output. Nothing can be pushed afterwards. */
  end(): Float32Array {
    const due = Math.round(this.#taken * this.#ratio) - this.#given;
    const silence = new Float32Array(this.#speex._speex_resampler_get_input_latency(this.#state) + 1);
    return this.#process(silence).subarray(0, Math.max(0, due));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#speex._speex_resampler_destroy(this.#state);
    this.#speex._free(this.#memory);
  }

  #process(samples: Float32Array): Float32Array {
    if (this.#closed) throw new Error('The resampler was closed.');
    const speex = this.#speex;
    const lengths = this.#memory;
    const input = lengths + 8;
    const output = input + 4 * INPUT_SAMPLES;
    let result = new Float32Array(Math.ceil(samples.length * this.#ratio) + 1);
    let filled = 0;
    let at = 0;
    let full = false;
    while (at < samples.length || full) {
      const piece = samples.subarray(at, at + INPUT_SAMPLES);
      speex.HEAPF32.set(piece, input / 4);
      speex.HEAPU32[lengths / 4] = piece.length;
      speex.HEAPU32[lengths / 4 + 1] = OUTPUT_SAMPLES;
      speex._speex_resampler_process_float(this.#state, 0, input, lengths, output, lengths + 4);
      const given = speex.HEAPU32[lengths / 4 + 1]!;
      at += speex.HEAPU32[lengths / 4]!;
      full = given === OUTPUT_SAMPLES;
      if (filled + given > result.length) result = enlarged(result, filled + given);
      result.set(speex.HEAPF32.subarray(output / 4, output / 4 + given), filled);
      filled += given;
    }
    this.#given += filled;
    return result.subarray(0, filled);
  }
}

function enlarged(samples: Float32Array, length: number): Float32Array<ArrayBuffer> {
  const copy = new Float32Array(length);
  copy.set(samples);
  return copy;
}
