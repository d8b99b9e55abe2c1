const MAX_FIRMS = 10_000;

/** The firms that were removed while this process runs. Their tokens are refused although they are cached. */
export class RemovedFirms {
  readonly #firms = new Set<string>();

  add(firmUuid: string): void {
    this.#firms.add(firmUuid);
    const [oldest] = this.#firms;
    // A cache entry lives some seconds.
    if (this.#firms.size > MAX_FIRMS && oldest !== undefined) this.#firms.delete(oldest);
  }

  has(firmUuid: string): boolean {
    return this.#firms.has(firmUuid);
  }
}
