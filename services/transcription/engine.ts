import type { Language } from '@call-analysis/events';

/** What every engine hears: one channel at this rate. */
export const HEARING_RATE = 16_000;

/** A stretch of one channel with speech in it, cut at silences. */
export interface Piece {
  /** At HEARING_RATE, from -1 to 1. */
  readonly samples: Float32Array;
}

/** What was said in a piece; `start` and `end` are seconds from the piece's beginning. */
export interface Heard {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Turns speech into text. Engines fail with Fault: of kind `unavailable` when the same piece may be heard later, of kind
 * `invalid` when it never will (LANGUAGE_NOT_SUPPORTED among them).
 */
export interface SpeechEngine {
  /** As the transcript shows it, with the model: `moonshine-tiny`, `openai:whisper-1`. */
  readonly name: string;
  /** The longest piece it wants, in seconds. */
  readonly maxPieceSeconds: number;
  /** Pieces that it hears at the same time, over all calls; more wait their turn. */
  readonly concurrency: number;
  /**
   * Hears one piece. An empty list when nothing was said in it. `language` is what is known of the call so far, and in the
   * answer what the engine found, null when it does not tell.
   */
  hear(
    piece: Piece,
    options: { language: Language | null; signal: AbortSignal },
  ): Promise<{ utterances: Heard[]; language: Language | null }>;
  close(): Promise<void>;
}
