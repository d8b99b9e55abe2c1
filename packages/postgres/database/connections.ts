import { AsyncLocalStorage } from 'node:async_hooks';

/** How many connections each part of a service's process may have. */
interface Connections {
  /** The service itself. */
  readonly own: number;
  /** Long operations of the service, which hold a connection for minutes. */
  readonly long: number;
  /** The queues. */
  readonly queues: number;
  /** The Kafka consumers that write events into the queues. */
  readonly readers: number;
}

/** One for LISTEN, one for the relay of the outbox. */
const SINGLE = 2;
const USUAL = 24;

/** Divides at least 10 connections: in proportion up to the default total. The service itself gets the rest. */
export function shareConnections(total: number = USUAL): Connections {
  const part = (usual: number, least: number) => Math.min(usual, Math.max(least, Math.round((usual * total) / USUAL)));
  const [long, queues, readers] = [part(4, 1), part(5, 2), part(3, 1)];
  return { own: total - SINGLE - long - queues - readers, long, queues, readers };
}

/** A transaction on a pool, and the one that it was begun in, on another. */
interface Holder {
  readonly pool: object;
  readonly outer: Holder | undefined;
  isOpen: boolean;
}

let holders: AsyncLocalStorage<Holder> | undefined;

/**
 * From now on a transaction that asks its pool for a second connection is an error. When as many of these run at once as the
 * pool has connections, each waits for the others until the time for connecting is over. For tests.
 */
export function refuseSecondConnections(): void {
  holders ??= new AsyncLocalStorage();
}

/** Runs a transaction on a connection of the pool. */
export async function holding<T>(pool: object, work: () => Promise<T>): Promise<T> {
  if (holders === undefined) return work();
  const holder = { pool, outer: holders.getStore(), isOpen: true };
  try {
    return await holders.run(holder, work);
  } finally {
    holder.isOpen = false;
  }
}

/** Throws when the caller is in a transaction on the pool. */
export function requireNoneHeld(pool: object): void {
  for (let holder = holders?.getStore(); holder !== undefined; holder = holder.outer)
    if (holder.isOpen && holder.pool === pool)
      throw new Error('A transaction asked for a second connection. Pass the transaction on instead.');
}
