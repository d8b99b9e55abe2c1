import { useSyncExternalStore } from 'react';

const DARK = '(prefers-color-scheme: dark)';

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
