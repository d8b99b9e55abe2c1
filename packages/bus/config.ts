import type { Log } from './queue/queues.ts';

export interface BusOptions {
  /** The service. */
  readonly name: string;
  readonly log: Log;
  /** How long `close` waits for handlers. What they still hold then is put back untried. Default 8,000. */
  readonly closeWithinMs?: number;
  /** After so long without a sign of life from its worker an event is handed to another. Default 30, at least 10. */
  readonly leaseSeconds?: number;
}
