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
