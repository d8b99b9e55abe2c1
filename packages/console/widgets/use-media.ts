import { useSyncExternalStore } from 'react';

/** A window in which the columns of a call are below each other. */
export const ONE_COLUMN = '(max-width: 860px)';

/** Whether the window matches a media query, now and when it changes. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** The colours in use, now and when the user or the browser changes them: for what is drawn and does not follow CSS. */
export function useScheme(): string {
  const isDark = useMedia('(prefers-color-scheme: dark)');
  const { documentElement } = document;
  const chosen = useSyncExternalStore(
    (listener) => {
      const observer = new MutationObserver(listener);
      observer.observe(documentElement, { attributeFilter: ['data-theme'] });
      return () => observer.disconnect();
    },
    () => documentElement.dataset['theme'],
  );
  return chosen ?? (isDark ? 'dark' : 'light');
}

/** A colour of the design for a canvas, which knows neither variables nor `light-dark()`: the browser resolves it. */
export function colourOf(element: HTMLElement, color: string): string {
  const probe = document.createElement('i');
  probe.style.color = color;
  element.append(probe);
  const { color: found } = getComputedStyle(probe);
  probe.remove();
  return found;
}
