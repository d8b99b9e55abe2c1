/** What a file name's extension may be, without its dot (external-interface.md, "Single audio upload"). */
export const FORMATS = ['aiff', 'au', 'flac', 'mp3', 'ogg', 'wav'] as const;
export type Format = (typeof FORMATS)[number];

/** The bytes of a recording, wherever they are kept. */
export interface Source {
  readonly sizeBytes: number;
  /** Bytes from `start` to before `end`; fewer when the source ends before. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** The bytes from `start` on, to the end, in pieces. */
  stream(start: number): AsyncIterable<Uint8Array>;
}

/** What is inside a recording, found by content. What it says agrees with what decoding it gives. */
export interface RecordingInfo {
  readonly format: Format;
  /**
   * The codec inside: `pcm_s16le`, `pcm_alaw`, `adpcm_ms`, `mp3`, `flac`, `vorbis`, `opus`, `speex` and so on, as ffmpeg
   * names it.
   */
  readonly codec: string;
  readonly channels: number;
  /** Hertz, of what decoding gives. */
  readonly sampleRate: number;
  /** Samples of one channel, above 0. */
  readonly frames: number;
  /** Seconds: frames / sampleRate. */
  readonly duration: number;
}

/** Some consecutive samples of every channel, from -1 to 1, all channels equally long. */
export interface Samples {
  readonly sampleRate: number;
  readonly channels: readonly Float32Array[];
}

/**
 * What one container knows. Both functions fail with Fault of kind `invalid`: INVALID_FILE_FORMAT for content that is
 * not of this container, or of a codec that is not supported (by name, with what to do); AUDIO_UNREADABLE for content
 * that is broken or holds no frame.
 */
export interface Container {
  readonly format: Format;
  probe(source: Source): Promise<RecordingInfo>;
  /** Samples in order, in flat memory, some thousand at a time. Broken content in the middle ends in AUDIO_UNREADABLE. */
  decode(source: Source): AsyncIterable<Samples>;
}
