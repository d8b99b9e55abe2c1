/** The accepted file name extensions, without the dot (docs/api.md, "Single upload"). */
export const FORMATS = ['aiff', 'au', 'flac', 'mp3', 'ogg', 'wav'] as const;
export type Format = (typeof FORMATS)[number];

/** Random and sequential access to the bytes of a recording, wherever they are stored. */
export interface Source {
  readonly sizeBytes: number;
  /** The bytes from `start` up to but not including `end`; fewer when the source ends earlier. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** The bytes from `start` to the end, in pieces of any size. */
  stream(start: number): AsyncIterable<Uint8Array>;
}

/** Properties of a recording, found from its content. They agree with the output of the decoder. */
export interface RecordingInfo {
  readonly format: Format;
  /** ffmpeg's name of the codec: `pcm_s16le`, `pcm_alaw`, `adpcm_ms`, `mp3`, `flac`, `vorbis`, `opus` and so on. */
  readonly codec: string;
  readonly channels: number;
  /** Of the decoded samples, in hertz. */
  readonly sampleRate: number;
  /** Samples per channel, above 0. */
  readonly frames: number;
  /** Seconds: frames / sampleRate. */
  readonly duration: number;
}

/** Consecutive samples of every channel, from -1 to 1. All channels have the same length. */
export interface Samples {
  readonly sampleRate: number;
  readonly channels: readonly Float32Array[];
}

/**
 * The reader of one container format. Both functions fail with a Fault of kind `invalid`: INVALID_FILE_FORMAT when the
 * content is not of this format or its codec is not supported (the message names the codec and says what to convert
 * to), AUDIO_UNREADABLE when the content is damaged or holds no frame.
 */
export interface Container {
  readonly format: Format;
  probe(source: Source): Promise<RecordingInfo>;
  /** Yields a few thousand samples at a time, in order and in constant memory. Damage in the middle is AUDIO_UNREADABLE. */
  decode(source: Source): AsyncIterable<Samples>;
}
