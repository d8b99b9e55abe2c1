import { isZone } from './days.ts';

/** Of the browser, until the firm's is known. */
const BROWSER = Intl.DateTimeFormat().resolvedOptions().timeZone;
const CHOSEN = 'console.zone';
/** The firm's as it was last known, so that the first page need not wait for it. */
const FIRM = 'console.firmZone';

const listeners = new Set<() => void>();
let zone = read(CHOSEN) ?? read(FIRM) ?? BROWSER;

/** The time zone in which all times are shown and typed: the person's choice, otherwise the firm's. */
export function timeZone(): string {
  return zone;
}

export function onZone(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The firm's time zone counts where the person has chosen none. */
export function setFirmZone(name: string): void {
  if (isZone(name)) localStorage.setItem(FIRM, name);
  update();
}

/** Null: that of the firm. The browser remembers it. */
export function chooseZone(name: string | null): void {
  if (name === null) localStorage.removeItem(CHOSEN);
  else localStorage.setItem(CHOSEN, name);
  update();
}

function update(): void {
  const next = read(CHOSEN) ?? read(FIRM) ?? BROWSER;
  if (next === zone) return;
  zone = next;
  for (const listener of listeners) listener();
}

function read(key: string): string | null {
  const stored = localStorage.getItem(key);
  return stored !== null && isZone(stored) ? stored : null;
}
