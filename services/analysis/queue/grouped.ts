/** More at a time would hold the locks of one transaction for too long. */
const MOST = 100;

interface Waiting<Item> {
  readonly item: Item;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Does one piece of work for many items: what is added while it runs is done together next. When it fails for several, it is
 * done for each alone, so that one bad item does not fail the others.
 */
export class Grouped<Item> {
  readonly #work: (items: readonly Item[]) => Promise<void>;
  #waiting: Waiting<Item>[] = [];
  #isRunning = false;

  constructor(work: (items: readonly Item[]) => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when the work is done for this item. */
  add(item: Item): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ item, done });
    if (!this.#isRunning) void this.#run();
    return done.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#doAll(this.#waiting.splice(0, MOST));
    this.#isRunning = false;
  }

  async #doAll(group: readonly Waiting<Item>[]): Promise<void> {
    try {
      await this.#work(group.map(({ item }) => item));
      for (const { done } of group) done.resolve();
    } catch (error) {
      if (group.length === 1) group[0]!.done.reject(error);
      else for (const each of group) await this.#doAll([each]);
    }
  }
}
