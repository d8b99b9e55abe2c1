/** The generator of libspeex, so that its noise is ours, sample for sample. */
export class Noise {
  #state = 1000;

  /** Evenly spread around 0, with about this standard deviation. */
  next(deviation: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) | 0;
    return 3.4642 * deviation * ((this.#state & 0x7f_ffff) / 0x80_0000 - 0.5);
  }
}
