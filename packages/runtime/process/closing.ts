import type { Logger } from '../log/log.ts';
import { settlesWithin } from '../settles-within.ts';

interface Step {
  readonly name: string;
  readonly close: () => void | Promise<void>;
  readonly boundMs: number | undefined;
}

/**
 * Closes parts in the reverse order of opening. When one fails, the others are closed too.
 * A composition root adds each part right after opening it, so that a start that fails half-way closes what it has opened.
 */
export class Closing {
  readonly #log: Logger | undefined;
  readonly #steps: Step[] = [];
  #closed: Promise<void> | undefined;

  constructor(log?: Logger) {
    this.#log = log;
  }

  /** A step that takes longer than `boundMs` counts as failed, and the next one begins. */
  add(name: string, close: () => void | Promise<void>, options: { boundMs?: number } = {}): void {
    this.#steps.push({ name, close, boundMs: options.boundMs });
  }

  /**
   * Closes everything once, however often it is called. A step that is added meanwhile is closed too.
   * Rejects with an AggregateError, after the last step, when any step failed.
   */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const failures: Error[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await withinBound(step);
      } catch (cause) {
        this.#log?.error({ part: step.name, err: cause }, 'a part did not close');
        failures.push(new Error(`${step.name} did not close`, { cause }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map((each) => each.message).join('; '));
  }
}

async function withinBound(step: Step): Promise<void> {
  if (step.boundMs === undefined) {
    await step.close();
    return;
  }
  const isClosed = await settlesWithin(Promise.resolve(step.close()), step.boundMs);
  if (!isClosed) throw new Error(`took longer than ${step.boundMs} ms`);
}

/**
 * Milliseconds that work in progress may still take in a stopping process, but not less than `atLeast`. The time begins
 * with the first call, so that parts that close one after the other share it.
 */
export type TimeLeft = (atLeast?: number) => number;

/** The time beyond that for cancelling unfinished work, returning deliveries to their queues and closing. */
export const SHUTDOWN_MARGIN_MS = 8_000;

export function timeLeft(ms = 10_000): TimeLeft {
  let endsAt: number | undefined;
  return (atLeast = 0) => {
    const now = performance.now();
    endsAt ??= now + ms;
    return Math.max(atLeast, endsAt - now);
  };
}
