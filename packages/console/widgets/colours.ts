import { useSyncExternalStore } from 'react';

const DARK = '(prefers-color-scheme: dark)';

/** A colour of the design for a canvas, which knows neither variables nor `light-dark()`: the browser resolves it. */
export function colourOf(element: HTMLElement, color: string): string {
  const probe = document.createElement('i');
  probe.style.color = color;
  element.append(probe);
  const { color: found } = getComputedStyle(probe);
  probe.remove();
  return found;
}

/** The colours in use, now and when the user or the browser changes them: for what is drawn and does not follow CSS. */
export function useScheme(): string {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(DARK);
      list.addEventListener('change', listener);
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
      return () => {
        list.removeEventListener('change', listener);
        observer.disconnect();
      };
    },
    () => document.documentElement.dataset['theme'] ?? (matchMedia(DARK).matches ? 'dark' : 'light'),
  );
}
