import type { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { z } from 'zod';

/** Every engine transcribes one channel at this rate. */
export const SAMPLE_RATE_HZ = 16_000;

/** A stretch of one channel that contains speech, cut at pauses. */
export interface SpeechSegment {
  /** At SAMPLE_RATE_HZ, from -1 to 1. */
  readonly samples: Float32Array;
}

/** Text that was said; `start` and `end` are seconds from the beginning of the segment. */
export interface TimedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** 0 to 1; absent when the engine does not tell. */
  readonly confidence?: number | undefined;
}

/**
 * Turns speech into text. Engines throw a Fault: of kind `unavailable` when a retry of the same segment may succeed, of
 * kind `invalid` when it cannot (LANGUAGE_NOT_SUPPORTED among them).
 */
export interface SpeechEngine {
  /** With the model, as the transcript shows it: `moonshine-tiny`, `openai:whisper-1`. */
  readonly name: string;
  /** The longest segment that it accepts, in seconds. */
  readonly maxSegmentSeconds: number;
  /** How many segments it transcribes at the same time, over all calls; further ones are queued. */
  readonly concurrency: number;
  /**
   * Transcribes one segment. `utterances` is empty when nothing was said. The `language` option is the call's language as
   * far as it is known; the returned one is what the engine detected, null when it does not report a language.
   */
  transcribe(
    segment: SpeechSegment,
    options: { language: Language | null; signal: AbortSignal },
  ): Promise<{ utterances: TimedText[]; language: Language | null }>;
  close(): Promise<void>;
}

/** The engine does not answer, or its answer is unusable; a retry may succeed. */
export function engineUnavailable(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_UNAVAILABLE', message, { cause });
}

/** The operator has to correct the configuration; a retry may succeed after that. */
export function engineMisconfigured(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_MISCONFIGURED', message, { cause });
}

/** The engine failed on this segment; a retry may succeed. */
export function engineFailed(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_FAILED', message, { cause });
}

/** The engine rejects this segment; a retry would fail too. */
export function engineRefused(message: string, cause?: unknown): Fault {
  return new Fault('invalid', 'ENGINE_REFUSED', message, { cause });
}

/**
 * An engine's text as a transcript can use it: sorted by time and clipped to the segment. Removes text without a letter or
 * digit, and text that begins after the segment's end.
 */
export function tidyText(texts: readonly TimedText[], segmentSeconds: number): TimedText[] {
  return texts
    .map(({ text, start, end, confidence }) => {
      const from = Math.max(0, start);
      const timed = { text: cleanText(text), start: from, end: Math.min(Math.max(from, end), segmentSeconds) };
      // Figures that are no probability say nothing.
      const isKnown = confidence !== undefined && confidence >= 0 && confidence <= 1;
      return isKnown ? { ...timed, confidence } : timed;
    })
    .filter(({ text, start }) => /[\p{L}\p{N}]/u.test(text) && start < segmentSeconds)
    .sort((one, other) => one.start - other.start);
}

/**
 * One line of well-formed text without control characters: PostgreSQL rejects NUL, and JSON half of a surrogate pair.
 */
function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/** What an engine has answered in JSON of this shape; null for any other text. */
export function parsed<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
