/** The package comes without types; these are the functions of speexdsp's `speex_resampler.h` that are used. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  /** An address in the module's memory. */
  type Pointer = number;

  export interface SpeexResampler {
    /** Views on the memory; replaced when it grows. */
    readonly HEAPF32: Float32Array;
    readonly HEAPU32: Uint32Array;
    /** 0 when there is no memory left. */
    _malloc(bytes: number): Pointer;
    _free(pointer: Pointer): void;
    _speex_resampler_init(channels: number, fromRate: number, toRate: number, quality: number, error: Pointer): Pointer;
    _speex_resampler_destroy(state: Pointer): void;
    /** Leaves away the silence that the filter's delay would begin with. */
    _speex_resampler_skip_zeros(state: Pointer): number;
    /** The filter's delay, in samples of the input. */
    _speex_resampler_get_input_latency(state: Pointer): number;
    /** The two lengths are what there is, and afterwards what was used. */
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
