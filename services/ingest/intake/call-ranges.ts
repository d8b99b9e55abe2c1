import type { BodyOf, CallsAccepted } from '@call-analysis/events';
import { stringify } from 'uuid';
import { UUID_BYTES } from './copy/call-uuids.ts';

/** Calls announced together (announce-calls.ts). */
const PORTION_ROWS = 500;
const PORTION_CHARS = 4 * 1024 * 1024;

export type Portion = BodyOf<typeof CallsAccepted>;

/** Cuts the accepted calls, which come in the order of their uuids, into portions to announce together. */
export class Portions {
  readonly #portions: Portion[] = [];
  #first = '';
  readonly #last = new Uint8Array(UUID_BYTES);
  #rows = 0;
  #chars = 0;

  /** Adds the call whose uuid begins at `at`; `chars` is how much there will be to announce of it. */
  add(uuids: Uint8Array, at: number, chars: number): void {
    if (this.#rows >= PORTION_ROWS || this.#chars >= PORTION_CHARS) this.#close();
    for (let index = 0; index < UUID_BYTES; index++) this.#last[index] = uuids[at + index]!;
    if (this.#rows === 0) this.#first = stringify(this.#last);
    this.#rows++;
    this.#chars += chars;
  }

  /** After the last call. */
  end(): readonly Portion[] {
    if (this.#rows > 0) this.#close();
    return this.#portions;
  }

  #close(): void {
    this.#portions.push({ first: this.#first, last: stringify(this.#last) });
    this.#rows = 0;
    this.#chars = 0;
  }
}
