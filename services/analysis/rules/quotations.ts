import type { Span } from './quote.ts';

/** Each opening quotation mark and those that close it. */
const MARKS: Readonly<Record<string, string>> = { '«': '»', '“': '”“', '„': '“”', '"': '"', '”': '”' };
const ANY_MARK = /[«“„"”]/u;

/**
 * The text between quotation marks: words that are read out, not the speaker's own. A mark without its partner encloses
 * nothing, and neither do marks around the whole text.
 */
export function quotedSpans(text: string): readonly Span[] {
  if (!ANY_MARK.test(text)) return NONE;
  const spans: Span[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const closing = MARKS[text[at] ?? ''];
    if (closing === undefined) continue;
    let end = at + 1;
    while (end < text.length && !closing.includes(text[end] ?? '')) end += 1;
    if (end === text.length) continue;
    spans.push({ start: at, end: end + 1 });
    at = end;
  }
  return spans.filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(0, start) + text.slice(end)));
}

const NONE: readonly Span[] = [];
