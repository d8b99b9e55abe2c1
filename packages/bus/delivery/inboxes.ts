import { unavailable } from '@call-analysis/fault';
import { shareConnections } from '@call-analysis/postgres';
import { cachedFor, gauge, settlesWithin } from '@call-analysis/runtime';
import type { BusOptions, QueueConfig } from '../config.ts';
import type { ConsumerDepth, Subscription, SubscriptionOptions, FailureReason } from '../port.ts';
import { createConsumerQueues, deadLetterQueueOf, isDeadLetterQueue } from '../queue/consumer-queue.ts';
import { watchDueJobs } from '../queue/due-jobs.ts';
import { returnAbandonedJobs, findLapsedJobs } from '../queue/queue-store.ts';
import { type Queues, startQueues } from '../queue/queues.ts';
import type { DeadLetterSink } from './give-up.ts';
import { type Inbox, openInbox } from './inbox.ts';

const labels = ['service', 'consumer'] as const;
const gauges = {
  waiting: gauge('events_waiting', 'Events that wait for a consumer; beyond 50,000 jobs an estimate.', labels),
  active: gauge('events_in_progress', 'Events that a consumer is handling.', labels),
  dead: gauge('dead_letters', 'Events that were given up, counted up to 50,000.', labels),
  oldestSeconds: gauge('oldest_event_seconds', 'Age of the oldest waiting event.', labels),
};

/** Counting a long queue takes tens of milliseconds, and fresher figures are of no use. */
const CACHE_MS = 10_000;

/** Exports the depths as metrics until the returned function is called. */
function exportDepths(service: string, readDepths: () => Promise<ConsumerDepth[]>): () => void {
  const cached = cachedFor(CACHE_MS, readDepths);
  const sources = (['waiting', 'active', 'dead', 'oldestSeconds'] as const).map((figure) =>
    gauges[figure].from(async () =>
      (await cached()).map((depth) => ({ labels: [service, depth.consumer] as const, value: depth[figure] ?? 0 })),
    ),
  );
  return () => {
    for (const remove of sources) remove();
  };
}

const CLOSE_WITHIN_MS = 8_000;
const LEASE_SECONDS = 30;
const RELEASE_WITHIN_MS = 2_000;

/** The name under which `depths` counts the events that wait to leave the service. No consumer has it. */
export const OUTBOX = 'outbox';

interface InboxDeps {
  /** The depths of these consumers, exported as metrics. */
  readDepths(queues: Queues, consumers: readonly string[]): Promise<ConsumerDepth[]>;
  /** Gets the events that are given up. */
  readonly sink?: DeadLetterSink;
}

/** The receiving side of every transport: queues in PostgreSQL, and the consumers that are served from them. */
export async function openInboxes(
  { url, schema, exclusive = false, connections }: QueueConfig,
  options: BusOptions,
  { readDepths, sink }: InboxDeps,
) {
  const { name, log, closeWithinMs = CLOSE_WITHIN_MS, leaseSeconds = LEASE_SECONDS } = options;
  const queues = await startQueues({
    url,
    schema,
    name,
    log,
    leaseSeconds,
    connections: shareConnections(connections).queues,
  });
  const inboxes: Inbox[] = [];
  const consumers: string[] = [];
  const due = watchDueJobs(queues);
  const leases = watchLeases(queues, () => consumers.flatMap((each) => [each, deadLetterQueueOf(each)]));
  const stopExport = exportDepths(name, () => readDepths(queues, consumers));

  /**
   * Waits for handlers for `closeWithinMs`, returns the events that are still being handled to their queues, and closes the
   * queues. `closeOthers` runs at the same time and may still use the queues.
   */
  async function close(closeOthers: () => Promise<unknown>): Promise<void> {
    stopExport();
    const othersClosed = closeOthers();
    let allHandled = false;
    const stopped = Promise.all(inboxes.filter(({ isLate }) => !isLate).map((inbox) => inbox.stop())).then(() => {
      allHandled = inboxes.every(({ isLate }) => !isLate);
    });
    await settlesWithin(Promise.all([stopped, othersClosed]), closeWithinMs);
    const inProgress = inboxes.reduce((sum, each) => sum + each.inProgress, 0);
    if (!allHandled && inProgress > 0)
      log.info({ inProgress }, 'Events that were not handled in time return to the queue.');
    const released = (async () => {
      if (!allHandled) await Promise.allSettled(inboxes.map((inbox) => inbox.release()));
      await othersClosed;
      await Promise.all([due.stop(), leases.stop()]);
      await queues.close();
    })();
    // A database that no longer answers must not keep the process alive. Lapsing leases return the events then.
    await settlesWithin(released, RELEASE_WITHIN_MS);
  }

  return {
    queues,
    /** Calls `connect` once the consumer's queue exists; from then on events may be inserted into it. */
    async subscribe(subscription: SubscriptionOptions, connect: () => Promise<void>): Promise<Subscription> {
      validate(subscription);
      await createConsumerQueues(queues, subscription);
      if (exclusive) await returnAbandonedJobs(queues, subscription.consumer);
      await connect();
      const inbox = await openInbox(queues, due, subscription, sink);
      inboxes.push(inbox);
      consumers.push(subscription.consumer);
      return inbox;
    },
    /** Rejects with Fault UNAVAILABLE unless the database answers. */
    async ready(): Promise<void> {
      try {
        await queues.query('SELECT 1');
      } catch (error) {
        throw unavailable('The database of the bus', error);
      }
    },
    close,
  };
}

function validate({ consumer, routes }: SubscriptionOptions): void {
  if (!/^[a-z][a-z0-9.-]*$/.test(consumer) || isDeadLetterQueue(consumer) || consumer === OUTBOX) {
    throw new Error(`A consumer's name is lower-case letters, digits, dots and hyphens: ${consumer}`);
  }
  const types = routes.map((route) => route.event.type);
  if (new Set(types).size !== types.length) throw new Error(`${consumer} has two routes for one event.`);
}

const CHECKS_PER_LEASE = 4;

/** Ends the attempts of workers that have sent no heartbeat for a lease, so that other workers get their events. */
function watchLeases(queues: Queues, names: () => readonly string[]): { stop(): Promise<void> } {
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
