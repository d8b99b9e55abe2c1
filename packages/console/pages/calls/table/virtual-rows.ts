import { type RefObject, useCallback, useEffect, useState } from 'react';

/** Rows beyond the visible ones, so that quick scrolling shows no gaps. */
const SPARE = 8;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Which of many rows of one height are near the visible part of a scrolled element. */
export function useVirtualRows(element: RefObject<HTMLElement | null>, count: number, rowHeight: number): Range {
  // Those that a window can show, until the element is measured.
  const [range, setRange] = useState<Range>(() => ({ from: 0, to: Math.ceil(innerHeight / rowHeight) }));
  const measure = useCallback(() => {
    const { current } = element;
    if (current === null) return;
    const from = Math.max(0, Math.floor(current.scrollTop / rowHeight) - SPARE);
    const to = Math.ceil((current.scrollTop + current.clientHeight) / rowHeight) + SPARE;
    setRange((before) => (before.from === from && before.to === to ? before : { from, to }));
  }, [element, rowHeight]);
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    // It also measures once after the next layout, which measuring here would force.
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [element, measure]);
  return { from: Math.min(range.from, Math.max(0, count - 1)), to: Math.min(range.to, count) };
}
