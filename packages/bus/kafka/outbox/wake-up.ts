import { setTimeout as pause } from 'node:timers/promises';

/** Wakes one waiting task. If none waits, the next one to wait returns immediately. */
export class WakeUp {
  #pending = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#pending = true;
    this.#wake?.();
  }

  /** Discards an earlier `notify` that nothing has waited for. */
  reset(): void {
    this.#pending = false;
  }

  async wait(atMostMs: number): Promise<void> {
    if (!this.#pending) {
      const over = new AbortController();
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([woken, pause(atMostMs, undefined, { signal: over.signal }).catch(() => {})]);
      over.abort();
      this.#wake = undefined;
    }
    this.#pending = false;
  }
}
