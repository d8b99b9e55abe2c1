import type { TimedText } from './speech-engine.ts';

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
