const SMALLEST = 64;

/**
 * Transitions between numbered nodes by symbols, in a hash table of typed arrays with open addressing. A Map took five times the
 * memory for the built-in phrases, which every collection of garbage visited. No transition leads to node 0.
 */
export class Transitions {
  #count = 0;
  #nodes = new Int32Array(SMALLEST);
  #symbols = new Int32Array(SMALLEST);
  /** 0 where the slot is free. */
  #targets = new Int32Array(SMALLEST);

  /** The node to which the symbol leads, or 0. */
  get(node: number, symbol: number): number {
    return this.#targets[this.#slot(node, symbol)]!;
  }

  /** Adds a transition that does not exist yet. */
  add(node: number, symbol: number, target: number): void {
    // Half of the slots stay free, so that a search meets few others.
    if ((this.#count + 1) * 2 > this.#targets.length) this.#grow();
    this.#put(node, symbol, target);
    this.#count += 1;
  }

  #put(node: number, symbol: number, target: number): void {
    const slot = this.#slot(node, symbol);
    this.#nodes[slot] = node;
    this.#symbols[slot] = symbol;
    this.#targets[slot] = target;
  }

  /** Where the transition is, or the free slot where it would be. */
  #slot(node: number, symbol: number): number {
    const last = this.#targets.length - 1;
    // Two odd numbers with evenly spread bits; the upper half of the product is mixed best.
    const hash = Math.imul(Math.imul(node, 0x9e3779b1) ^ symbol, 0x85ebca6b);
    let slot = (hash ^ (hash >>> 15)) & last;
    while (this.#targets[slot] !== 0 && (this.#nodes[slot] !== node || this.#symbols[slot] !== symbol)) {
      slot = (slot + 1) & last;
    }
    return slot;
  }

  #grow(): void {
    const [nodes, symbols, targets] = [this.#nodes, this.#symbols, this.#targets];
    const size = targets.length * 2;
    this.#nodes = new Int32Array(size);
    this.#symbols = new Int32Array(size);
    this.#targets = new Int32Array(size);
    for (let slot = 0; slot < targets.length; slot += 1) {
      if (targets[slot] !== 0) this.#put(nodes[slot]!, symbols[slot]!, targets[slot]!);
    }
  }
}
