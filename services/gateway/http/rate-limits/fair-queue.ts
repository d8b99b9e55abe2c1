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
  /** Only those that have a request in progress or waiting. */
  readonly #firms = new Map<string, Firm>();
  /** Those that wait and are under their limit. The next slot is the first one's, which then goes to the end. */
  readonly #ready = new Set<Firm>();
  #running = 0;
  #waiting = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** A slot, the reason why there is none, or a ticket of the queue. */
  enter(firmUuid: string): FreeSlot | NoSlot | Ticket {
    const firm = this.#firms.get(firmUuid) ?? { uuid: firmUuid, running: 0, waiting: new Set() };
    this.#firms.set(firmUuid, firm);
    if (firm.waiting.size === 0 && this.#isUnderLimit(firm) && this.#hasFreeSlot()) return this.#begin(firm);
    if (firm.waiting.size >= this.#limits.waitingPerFirm) return this.#none('firm', firm);
    if (this.#waiting >= this.#limits.waitingTotal && !this.#dropForAnother(firm)) return this.#none('process', firm);
    return this.#wait(firm);
  }

  get inProgress(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  #isUnderLimit(firm: Firm): boolean {
    return this.#limits.perFirm === 0 || firm.running < this.#limits.perFirm;
  }

  #hasFreeSlot(): boolean {
    return this.#limits.total === 0 || this.#running < this.#limits.total;
  }

  #begin(firm: Firm): FreeSlot {
    firm.running++;
    this.#running++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      firm.running--;
      this.#running--;
      if (firm.waiting.size > 0) this.#ready.add(firm);
      this.#giveSlots();
      this.#forget(firm);
    };
  }

  #giveSlots(): void {
    // A firm that is removed and added again during the iteration is visited again, after the others.
    for (const firm of this.#ready) {
      if (!this.#hasFreeSlot()) return;
      this.#ready.delete(firm);
      const [first] = firm.waiting;
      if (first === undefined) continue;
      this.#remove(firm, first);
      first.resolve(this.#begin(firm));
      if (firm.waiting.size > 0 && this.#isUnderLimit(firm)) this.#ready.add(firm);
    }
  }

  #wait(firm: Firm): Ticket {
    const { promise, resolve } = Promise.withResolvers<FreeSlot | NoSlot | null>();
    const end = (answer: NoSlot | null) => {
      this.#remove(firm, waiting);
      resolve(answer);
      this.#forget(firm);
    };
    const timer = setTimeout(() => end(this.#isUnderLimit(firm) ? 'process' : 'firm'), this.#limits.maxWaitMs);
    timer.unref();
    const waiting = { timer, resolve };
    firm.waiting.add(waiting);
    this.#waiting++;
    if (this.#isUnderLimit(firm)) this.#ready.add(firm);
    return { slot: promise, leave: () => end(null) };
  }

  /** False when no other firm has more requests waiting than this one. */
  #dropForAnother(firm: Firm): boolean {
    let longest = firm;
    for (const each of this.#firms.values()) if (each.waiting.size > longest.waiting.size) longest = each;
    const [oldest] = longest.waiting;
    if (longest === firm || oldest === undefined) return false;
    this.#remove(longest, oldest);
    oldest.resolve('process');
    return true;
  }

  #remove(firm: Firm, waiting: Waiting): void {
    if (!firm.waiting.delete(waiting)) return;
    clearTimeout(waiting.timer);
    this.#waiting--;
    if (firm.waiting.size === 0) this.#ready.delete(firm);
  }

  #none(why: NoSlot, firm: Firm): NoSlot {
    this.#forget(firm);
    return why;
  }

  #forget(firm: Firm): void {
    if (firm.running === 0 && firm.waiting.size === 0) this.#firms.delete(firm.uuid);
  }
}
