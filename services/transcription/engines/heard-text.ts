import type { Heard } from '../engine.ts';

/**
 * Text as it may be stored and shown: one line, well-formed, without control characters (PostgreSQL takes no NUL,
 * and JSON no half of a surrogate pair).
 */
function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/**
 * What an engine says it heard, as a transcript can use it: in order, inside the piece, without the empty, without what
 * has neither letter nor digit, and without what begins after the piece's end, which nobody can have heard.
 */
export function tidy(heard: readonly Heard[], pieceSeconds: number): Heard[] {
  return heard
    .map(({ text, start, end }) => {
      const from = Math.max(0, start);
      return { text: cleanText(text), start: from, end: Math.min(Math.max(from, end), pieceSeconds) };
    })
    .filter(({ text, start }) => /[\p{L}\p{N}]/u.test(text) && start < pieceSeconds)
    .sort((one, other) => one.start - other.start);
}
