import type { FailureReason } from '../port.ts';
import type { Queues } from './queues.ts';

interface Lapsed {
  readonly name: string;
  readonly id: string;
  readonly retryCount: number;
}

const looksInLease = 4;

/** Ends the tries of workers that have given no sign of life for a lease, so that others may take their events up. */
export function watchLeases(queues: Queues, names: readonly string[]): { stop(): Promise<void> } {
  const leaseMs = queues.leaseSeconds * 1_000;
  let looking = Promise.resolve();
  let patientUntil = 0;

  async function look(): Promise<void> {
    try {
      if (Date.now() >= patientUntil) await endLapsed(queues, names);
      else await queues.query('SELECT 1');
    } catch (error) {
      // While the database is away nobody can give it a sign of life; those who live need time to do so afterwards.
      patientUntil = Date.now() + leaseMs / 2;
      queues.complain(error);
    }
  }

  const timer = setInterval(() => {
    looking = looking.then(look);
  }, leaseMs / looksInLease);
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}

async function endLapsed({ boss, query, schema, log }: Queues, names: readonly string[]): Promise<void> {
  const lapsed = await query<Lapsed>(
    `SELECT name, id, retry_count AS "retryCount" FROM ${schema}.job
      WHERE name = ANY($1) AND state = 'active' AND group_id IS NOT NULL
        AND heartbeat_on < now() - heartbeat_seconds * interval '1 second'`,
    [names],
  );
  for (const { name, id, retryCount } of lapsed) {
    const reason: FailureReason = {
      message: 'Whoever handled the event was lost before it was done.',
      code: 'INTERNAL',
      attempts: retryCount + 1,
    };
    log.warn({ queue: name, event: id, attempts: reason.attempts }, 'The lease of an event has lapsed.');
    // Bound to the try that lapsed: when its worker, or another watcher, came first, nothing happens.
    await boss.fail(name, { id, retryCount }, reason);
  }
}
