import type { ReactNode } from 'react';

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Text with some of its characters marked. Positions are UTF-16 units, the end exclusive; they may overlap. */
export function Highlighted({ text, spans }: { text: string; spans: readonly Span[] }) {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const from = Math.max(start, at);
    if (end <= from) continue;
    if (from > at) parts.push(text.slice(at, from));
    parts.push(<mark key={from}>{text.slice(from, end)}</mark>);
    at = end;
  }
  parts.push(text.slice(at));
  return parts;
}
