export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'console.theme';

export function storedTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((each) => each === stored) ?? 'system';
}

/** `system` follows the browser. */
export function applyTheme(theme: Theme = storedTheme()): void {
  localStorage.setItem(STORED, theme);
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
