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
