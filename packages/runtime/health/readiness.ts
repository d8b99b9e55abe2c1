import { Fault, unavailable } from '@call-analysis/fault';

/** Something that a service needs. */
export interface Part {
  /** As /readyz names it. */
  readonly name: string;
  /**
   * Without a vital part no request can be served, and a load balancer should ask another replica. Without any other the
   * service goes on: it does less, or does later what can wait.
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

/** A part that has not answered by then does not. */
const BOUND_MS = 2_000;
/** Probes come from many sides, and each would otherwise cost a look. */
const REMEMBER_MS = 1_000;

/** Tells which of a service's parts answer. It looks when somebody asks, so an idle process looks at nothing. */
export class Readiness {
  #isDraining = false;
  readonly #looks: readonly { readonly part: Part; readonly answers: () => Promise<boolean> }[];

  constructor(parts: readonly Part[], { boundMs = BOUND_MS, rememberMs = REMEMBER_MS } = {}) {
    this.#looks = parts.map((part) => ({ part, answers: look(part.check, boundMs, rememberMs) }));
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** The service is about to stop: it still serves, but nobody new should be sent to it. */
  drain(): void {
    this.#isDraining = true;
  }

  async missing(): Promise<Missing> {
    const all = await Promise.all(this.#looks.map(async ({ part, answers }) => ({ part, isThere: await answers() })));
    const away = all.filter(({ isThere }) => !isThere).map(({ part }) => part);
    return {
      vital: away.filter(({ vital }) => vital).map(({ name }) => name),
      others: away.filter(({ vital }) => !vital).map(({ name }) => name),
    };
  }

  /** Fault UNAVAILABLE naming a vital part that does not answer, or saying that the service is stopping. */
  async demand(): Promise<void> {
    if (this.#isDraining) throw new Fault('unavailable', 'UNAVAILABLE', 'The service is stopping.');
    const vital = this.#looks.filter(({ part }) => part.vital);
    await Promise.all(
      vital.map(async ({ part, answers }) => {
        if (!(await answers())) throw unavailable(part.name);
      }),
    );
  }
}

function look(check: () => Promise<unknown>, boundMs: number, rememberMs: number): () => Promise<boolean> {
  let last: Promise<boolean> | undefined;
  let until = 0;
  return () => {
    if (last !== undefined && performance.now() < until) return last;
    until = Infinity;
    last = answersWithin(check, boundMs).finally(() => (until = performance.now() + rememberMs));
    return last;
  };
}

async function answersWithin(check: () => Promise<unknown>, boundMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), boundMs);
  try {
    return await Promise.race([check().then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
