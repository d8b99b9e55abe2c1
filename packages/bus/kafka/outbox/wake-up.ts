import { setTimeout as pause } from 'node:timers/promises';

/** Wakes one that waits; rung while nobody waits, it wakes the next one at once. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** What was rung so far is known. */
  silence(): void {
    this.#rung = false;
  }

  async wait(atMostMs: number): Promise<void> {
    if (!this.#rung) {
      const over = new AbortController();
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([woken, pause(atMostMs, undefined, { signal: over.signal }).catch(() => {})]);
      over.abort();
      this.#wake = undefined;
    }
    this.#rung = false;
  }
}
