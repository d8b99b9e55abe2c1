import { useSyncExternalStore } from 'react';
import { createStore } from '../store.ts';

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

export const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const STORED = 'console.theme';
const theme = createStore<Theme>(THEMES.find((each) => each === localStorage.getItem(STORED)) ?? 'system');

/** The person's choice, which the browser remembers. */
export const useTheme = theme.use;

/** `system` follows the browser. */
export function applyTheme(chosen: Theme = theme.get()): void {
  localStorage.setItem(STORED, chosen);
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  theme.set(chosen);
}

/** The colours in use, now and when the user or the browser changes them: for what is drawn and does not follow CSS. */
export function useScheme(): string {
  const isDark = useMedia('(prefers-color-scheme: dark)');
  const chosen = useTheme();
  return chosen === 'system' ? (isDark ? 'dark' : 'light') : chosen;
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
