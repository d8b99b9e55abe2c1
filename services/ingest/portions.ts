import type { BodyOf, CallsAccepted } from '@call-analysis/events';

/** Calls announced together (announce-calls.ts). */
const PORTION_ROWS = 500;
const PORTION_CHARS = 4 * 1024 * 1024;

export type Portion = BodyOf<typeof CallsAccepted>;

/** Cuts the accepted calls, which come in the order of their uuids, into portions to announce together. */
export class Portions {
  readonly #portions: { first: string; last: string }[] = [];
  #rows = 0;
  #chars = 0;

  /** `chars` is how much there will be to announce of the call. */
  add(uuid: string, chars: number): void {
    const current = this.#portions.at(-1);
    if (current === undefined || this.#rows >= PORTION_ROWS || this.#chars >= PORTION_CHARS) {
      this.#portions.push({ first: uuid, last: uuid });
      this.#rows = 0;
      this.#chars = 0;
    } else current.last = uuid;
    this.#rows++;
    this.#chars += chars;
  }

  all(): readonly Portion[] {
    return this.#portions;
  }

  span(): { firstCall: string | null; lastCall: string | null } {
    return { firstCall: this.#portions.at(0)?.first ?? null, lastCall: this.#portions.at(-1)?.last ?? null };
  }
}
