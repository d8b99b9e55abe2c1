import type { FailureReason } from '../port.ts';
import { findLapsedJobs } from './queue-store.ts';
import type { Queues } from './queues.ts';

const CHECKS_PER_LEASE = 4;

/** Ends the attempts of workers that have sent no heartbeat for a lease, so that other workers get their events. */
export function watchLeases(queues: Queues, names: () => readonly string[]): { stop(): Promise<void> } {
  const leaseMs = queues.leaseSeconds * 1_000;
  let checking = Promise.resolve();
  let suspendedUntil = 0;

  async function check(): Promise<void> {
    try {
      if (Date.now() >= suspendedUntil) await endLapsedAttempts(queues, names());
      else await queues.query('SELECT 1');
    } catch (error) {
      // While the database is away, no worker can send a heartbeat. Living workers need time to do so afterwards.
      suspendedUntil = Date.now() + leaseMs / 2;
      queues.logBackgroundError(error);
    }
  }

  const timer = setInterval(() => {
    checking = checking.then(check);
  }, leaseMs / CHECKS_PER_LEASE);
  return {
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}

async function endLapsedAttempts(queues: Queues, names: readonly string[]): Promise<void> {
  const { boss, log } = queues;
  for (const { name, id, retryCount } of await findLapsedJobs(queues, names)) {
    const reason: FailureReason = {
      message: 'The worker was lost before it finished the event.',
      code: 'INTERNAL',
      attempts: retryCount + 1,
    };
    log.warn({ queue: name, event: id, attempts: reason.attempts }, 'The lease of an event has lapsed.');
    // With `retryCount` this fails only the lapsed attempt, even if its worker or another process ended it meanwhile.
    await boss.fail(name, { id, retryCount }, reason);
  }
}
