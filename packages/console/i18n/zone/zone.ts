import { createStore } from '../../store.ts';
import { isZone } from './days.ts';

/** Of the browser, until the firm's is known. */
const BROWSER = Intl.DateTimeFormat().resolvedOptions().timeZone;
const CHOSEN = 'console.zone';
/** The firm's as it was last known, so that the first page need not wait for it. */
const FIRM = 'console.firmZone';

const zone = createStore(wanted());

/** The time zone in which all times are shown and typed: the person's choice, otherwise the firm's. */
export const timeZone = zone.get;
export const useShownZone = zone.use;

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

function wanted(): string {
  return read(CHOSEN) ?? read(FIRM) ?? BROWSER;
}

function update(): void {
  if (wanted() !== zone.get()) zone.set(wanted());
}

function read(key: string): string | null {
  const stored = localStorage.getItem(key);
  return stored !== null && isZone(stored) ? stored : null;
}
