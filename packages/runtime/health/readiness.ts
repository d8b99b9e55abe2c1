import { Fault, unavailable } from '@call-analysis/fault';
import { settlesWithin } from '../settles-within.ts';
import { cachedFor, gauge } from '../telemetry/metrics.ts';

/** Something that a service needs. */
export interface Part {
  /** The name in /readyz. */
  readonly name: string;
  /**
   * Without a vital part no request can be served, and a load balancer should choose another replica. Without another
   * part the service does less, or postpones work.
   */
  readonly vital: boolean;
  /** Rejects while the part does not answer. */
  readonly check: () => Promise<unknown>;
}

/** The parts that do not answer, by name. */
export interface Missing {
  readonly vital: readonly string[];
  readonly others: readonly string[];
}

/** A part that takes longer counts as missing. */
const BOUND_MS = 2_000;
/** Probes come from many callers. Caching saves a check for each. */
const REMEMBER_MS = 1_000;

/** Reports which of a service's parts answer. Parts are checked only on request, so an idle process checks nothing. */
export class Readiness {
  #isDraining = false;
  readonly #checks: readonly { readonly part: Part; readonly answers: () => Promise<boolean> }[];

  constructor(parts: readonly Part[], { boundMs = BOUND_MS, rememberMs = REMEMBER_MS } = {}) {
    this.#checks = parts.map((part) => ({
      part,
      answers: cachedFor(rememberMs, () => settlesWithin(Promise.try(part.check), boundMs).catch(() => false)),
    }));
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** The service is about to stop: it still serves, but should get no new traffic. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Every part, and whether it answers. */
  states(): Promise<readonly { readonly part: Part; readonly hasAnswered: boolean }[]> {
    return Promise.all(this.#checks.map(async ({ part, answers }) => ({ part, hasAnswered: await answers() })));
  }

  async missing(): Promise<Missing> {
    const missing = (await this.states()).filter(({ hasAnswered }) => !hasAnswered).map(({ part }) => part);
    return {
      vital: missing.filter(({ vital }) => vital).map(({ name }) => name),
      others: missing.filter(({ vital }) => !vital).map(({ name }) => name),
    };
  }

  /** Rejects with Fault UNAVAILABLE when a vital part does not answer or the service is stopping. */
  async demand(): Promise<void> {
    if (this.#isDraining) throw new Fault('unavailable', 'UNAVAILABLE', 'The service is stopping.');
    const vital = this.#checks.filter(({ part }) => part.vital);
    await Promise.all(
      vital.map(async ({ part, answers }) => {
        if (!(await answers())) throw unavailable(part.name);
      }),
    );
  }
}

const states = gauge('part_available', '1 while a part that a service needs answers, 0 while it does not.', [
  'service',
  'part',
]);

/** Exports whether each part of the service answers until the returned function is called. */
export function exportParts(service: string, readiness: Readiness): () => void {
  return states.from(async () =>
    (await readiness.states()).map(({ part, hasAnswered }) => ({
      labels: [service, part.name],
      value: hasAnswered ? 1 : 0,
    })),
  );
}
