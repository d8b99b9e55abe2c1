import type { Language } from '@call-analysis/events';
import type { Side } from '../audio/stereo.ts';
import type { TimedText } from '../engines/speech-engine.ts';

/** Transcribes the segments of one recording. */
export interface Transcriber {
  /** The longest segment that it accepts. */
  readonly maxSegmentSeconds: number;
  /** Transcribes a segment now or later. Throws what engines throw. */
  transcribe(samples: Float32Array, side: Side): Promise<void>;
  /** Returns the transcription of all segments. */
  finish(): Promise<Transcription>;
}

export interface Transcription {
  /** The engine with its model. */
  readonly engine: string;
  readonly language: Language | null;
  /** The text of each segment, in the order of the segments. */
  readonly segments: readonly (readonly TimedText[])[];
}
