import { stringify } from 'uuid';
import type { CallRange } from '../batches/announcement-store.ts';
import { UUID_BYTES } from './copy/binary-rows.ts';

/** The most calls that are announced together. */
const RANGE_CALLS = 500;
const RANGE_CHARS = 4 * 1024 * 1024;

/** Groups accepted calls, which come in the order of their uuids, into ranges. */
export class CallRanges {
  readonly #ranges: CallRange[] = [];
  #first = '';
  readonly #last = new Uint8Array(UUID_BYTES);
  #calls = 0;
  #chars = 0;

  /** Adds the call whose uuid begins at `offset`. `chars` is how much there will be to announce of it. */
  add(uuids: Uint8Array, offset: number, chars: number): void {
    if (this.#calls >= RANGE_CALLS || this.#chars >= RANGE_CHARS) this.#close();
    for (let index = 0; index < UUID_BYTES; index++) this.#last[index] = uuids[offset + index]!;
    if (this.#calls === 0) this.#first = stringify(this.#last);
    this.#calls++;
    this.#chars += chars;
  }

  /** Call once, after the last call. */
  end(): readonly CallRange[] {
    if (this.#calls > 0) this.#close();
    return this.#ranges;
  }

  #close(): void {
    this.#ranges.push({ first: this.#first, last: stringify(this.#last) });
    this.#calls = 0;
    this.#chars = 0;
  }
}
