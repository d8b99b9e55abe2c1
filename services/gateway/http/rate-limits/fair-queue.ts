export interface FairQueueLimits {
  /** How many of one firm, and of all firms, are in progress at the same time. 0 is no limit. */
  readonly perFirm: number;
  readonly total: number;
  /** How many of one firm, and of all firms, may wait. */
  readonly waitingPerFirm: number;
  readonly waitingTotal: number;
  readonly maxWaitMs: number;
}

/** Ends a slot. Calling it again does nothing. */
export type FreeSlot = () => void;

/** Why there is no slot: the firm itself has too many requests, or all firms together have. */
export type NoSlot = 'firm' | 'process';

export interface Ticket {
  /** Null when the caller left the queue. */
  readonly slot: Promise<FreeSlot | NoSlot | null>;
  leave(): void;
}

interface Firm {
  readonly uuid: string;
  running: number;
  /** The longest waiting first. */
  readonly waiting: Set<Waiting>;
}

interface Waiting {
  readonly timer: NodeJS.Timeout;
  resolve(slot: FreeSlot | NoSlot | null): void;
}

/**
 * Gives slots to firms one after the other, however many requests of each are waiting. Within a firm, requests are
 * served in the order of their arrival. When too many wait, the oldest of the firm with the most is refused.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Only those that have a request in progress or waiting. The next slot is the first one's that may have it. */
  readonly #firms = new Map<string, Firm>();

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** A slot, the reason why there is none, or a ticket of the queue. */
  enter(firmUuid: string): FreeSlot | NoSlot | Ticket {
    const firm = this.#firms.get(firmUuid) ?? { uuid: firmUuid, running: 0, waiting: new Set() };
    if (firm.waiting.size === 0 && this.#mayBegin(firm)) {
      this.#firms.set(firmUuid, firm);
      return this.#begin(firm);
    }
    if (firm.waiting.size >= this.#limits.waitingPerFirm) return 'firm';
    if (this.waiting >= this.#limits.waitingTotal && !this.#dropForAnother(firm)) return 'process';
    if (firm.waiting.size === 0) this.#putLast(firm);
    return this.#wait(firm);
  }

  get inProgress(): number {
    return this.#firms.values().reduce((sum, { running }) => sum + running, 0);
  }

  get waiting(): number {
    return this.#firms.values().reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  #isUnderLimit(firm: Firm): boolean {
    return this.#limits.perFirm === 0 || firm.running < this.#limits.perFirm;
  }

  #mayBegin(firm: Firm): boolean {
    return this.#isUnderLimit(firm) && (this.#limits.total === 0 || this.inProgress < this.#limits.total);
  }

  #begin(firm: Firm): FreeSlot {
    firm.running++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      firm.running--;
      this.#giveSlot();
      this.#forget(firm);
    };
  }

  #giveSlot(): void {
    const next = this.#firms.values().find((firm) => firm.waiting.size > 0 && this.#mayBegin(firm));
    const [first] = next?.waiting ?? [];
    if (next === undefined || first === undefined) return;
    this.#putLast(next);
    this.#end(next, first, this.#begin(next));
  }

  #wait(firm: Firm): Ticket {
    const { promise, resolve } = Promise.withResolvers<FreeSlot | NoSlot | null>();
    const end = (answer: NoSlot | null) => this.#end(firm, waiting, answer);
    const timer = setTimeout(() => end(this.#isUnderLimit(firm) ? 'process' : 'firm'), this.#limits.maxWaitMs);
    timer.unref();
    const waiting = { timer, resolve };
    firm.waiting.add(waiting);
    return { slot: promise, leave: () => end(null) };
  }

  /** False when no other firm has more requests waiting than this one. */
  #dropForAnother(firm: Firm): boolean {
    let longest = firm;
    for (const each of this.#firms.values()) if (each.waiting.size > longest.waiting.size) longest = each;
    const [oldest] = longest.waiting;
    if (longest === firm || oldest === undefined) return false;
    this.#end(longest, oldest, 'process');
    return true;
  }

  #end(firm: Firm, waiting: Waiting, answer: FreeSlot | NoSlot | null): void {
    if (!firm.waiting.delete(waiting)) return;
    clearTimeout(waiting.timer);
    waiting.resolve(answer);
    this.#forget(firm);
  }

  #putLast(firm: Firm): void {
    this.#firms.delete(firm.uuid);
    this.#firms.set(firm.uuid, firm);
  }

  #forget(firm: Firm): void {
    if (firm.running === 0 && firm.waiting.size === 0) this.#firms.delete(firm.uuid);
  }
}
