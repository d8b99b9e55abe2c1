import { useRouterState } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';

/**
 * After a navigation the focus moves to the heading of the new page, as soon as there is one, so that screen readers read it
 * out and the next Tab begins there. A focus that the person has moved meanwhile stays.
 */
export function useArrival(main: RefObject<HTMLElement | null>): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    const isFirst = shown.current === undefined;
    if (path === undefined || path === shown.current) return;
    shown.current = path;
    const page = main.current;
    if (isFirst || page === null) return;
    const arrive = () => {
      const heading = page.querySelector('h1');
      if (heading === null) return;
      observer.disconnect();
      const { activeElement } = document;
      if (activeElement !== null && activeElement !== page && page.contains(activeElement)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(arrive);
    observer.observe(page, { childList: true, subtree: true });
    arrive();
    return () => observer.disconnect();
  }, [main, path]);
}
