import { currentSession } from '../../session/session.ts';

/** A file that was refused. */
export interface Refusal {
  readonly id: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly rows: number;
  readonly invalid: number;
  /** Of its refused rows. */
  readonly url: string | null;
}

const MOST = 20;
/** As long as the service keeps the refused rows. */
const KEPT_MS = 7 * 86_400_000;

const storageKey = () => `console.refused.${currentSession()?.userUuid ?? ''}`;

/** Those of the person in this browser, newest first. The service remembers only what it has accepted. */
export function keptRefusals(): readonly Refusal[] {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey()) ?? '[]') as Refusal[];
    return stored.filter(({ id, at }) => typeof id === 'string' && Date.now() - at < KEPT_MS);
  } catch {
    return [];
  }
}

export function keepRefusal(refusal: Refusal): void {
  store([refusal, ...keptRefusals().filter(({ id }) => id !== refusal.id)].slice(0, MOST));
}

/** Returns those that stay. */
export function forgetRefusal(id: string): readonly Refusal[] {
  return store(keptRefusals().filter((each) => each.id !== id));
}

function store(refusals: readonly Refusal[]): readonly Refusal[] {
  localStorage.setItem(storageKey(), JSON.stringify(refusals));
  return refusals;
}
