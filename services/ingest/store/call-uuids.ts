import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const BYTES = 16;
const POOLED = 1024;

/**
 * Uuids (version 7) for the calls of one batch: all begin with the batch's time, to the millisecond, and go on with a
 * counter, so that they sort by batch time and then in the order in which they were made. The other 42 bits are random;
 * drawing them in bulk takes a tenth of the time.
 */
export class CallUuids {
  readonly #msecs: number;
  readonly #pool = new Uint8Array(BYTES * POOLED);
  #made = 0;

  constructor(now: Date) {
    this.#msecs = now.getTime();
  }

  next(): string {
    const place = this.#made % POOLED;
    if (place === 0) randomFillSync(this.#pool);
    const random = this.#pool.subarray(place * BYTES, (place + 1) * BYTES);
    return v7({ msecs: this.#msecs, seq: this.#made++, random });
  }
}
