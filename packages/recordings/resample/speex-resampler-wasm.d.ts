/** The package has no types. These are the functions of speexdsp's `speex_resampler.h` that are used here. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  /** An address in the module's memory. */
  type Pointer = number;

  export interface SpeexResampler {
    /** Views of the memory; replaced when it grows. */
    readonly HEAPF32: Float32Array;
    readonly HEAPU32: Uint32Array;
    /** Returns 0 when no memory is left. */
    _malloc(bytes: number): Pointer;
    _free(pointer: Pointer): void;
    _speex_resampler_init(channels: number, fromRate: number, toRate: number, quality: number, error: Pointer): Pointer;
    _speex_resampler_destroy(state: Pointer): void;
    /** Drops the silence that the filter's delay puts at the beginning. */
    _speex_resampler_skip_zeros(state: Pointer): number;
    /** The filter's delay in input samples. */
    _speex_resampler_get_input_latency(state: Pointer): number;
    /** Both lengths are the available samples on entry and the used samples on return. */
    _speex_resampler_process_float(
      state: Pointer,
      channel: number,
      input: Pointer,
      inputLength: Pointer,
      output: Pointer,
      outputLength: Pointer,
    ): number;
  }

  export default function load(): Promise<SpeexResampler>;
}
