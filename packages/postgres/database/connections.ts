/** How many connections the parts of one service's process may have; all of them together are the total. */
export interface Connections {
  /** Of the service itself. */
  readonly own: number;
  /** Beside them, of whoever holds one for minutes. */
  readonly long: number;
  /** Of the queues. */
  readonly queues: number;
  /** Of what reads facts into the queues. */
  readonly readers: number;
}

/** One listens to what others write, one sends what is written. */
const SINGLE = 2;
const USUAL = 24;

/** Shares out at least 10: by need up to the usual total, above it to the service itself. */
export function shareConnections(total: number = USUAL): Connections {
  const part = (usual: number, least: number) => Math.min(usual, Math.max(least, Math.round((usual * total) / USUAL)));
  const [long, queues, readers] = [part(4, 1), part(5, 2), part(3, 1)];
  return { own: total - SINGLE - long - queues - readers, long, queues, readers };
}
