import { setTimeout as pause } from 'node:timers/promises';
import { unavailable } from '@call-analysis/fault';
import { shareConnections } from '@call-analysis/postgres';
import { type DeadLetterSink, isDeadQueue } from './give-up.ts';
import { type Look, watchDepths } from '../queue/depth-metrics.ts';
import { createInbox, type Inbox, openInbox } from './inbox.ts';
import type { BusOptions } from '../config.ts';
import type { Subscription, SubscriptionOptions } from '../port.ts';
import { putBackAbandoned } from '../put-back.ts';
import { type Queues, startQueues } from '../queue/queues.ts';

const defaultCloseWithinMs = 8_000;
const defaultLeaseSeconds = 30;
const farewellMs = 2_000;

export interface InboxPlace {
  readonly url: string;
  readonly schema: string;
  readonly exclusive?: boolean | undefined;
  /** To the database, of the whole process. */
  readonly connections?: number | undefined;
}

/** What every transport has on the side of those who hear: queues in PostgreSQL, out of which consumers are served. */
export interface Inboxes {
  readonly queues: Queues;
  /** `connect` sees to it that events come, once there is a place for them. */
  subscribe(subscription: SubscriptionOptions, connect: () => Promise<void>): Promise<Subscription>;
  /** Rejects with Fault UNAVAILABLE unless the database answers. */
  ready(): Promise<void>;
  /**
   * Waits for handlers as long as the options say, puts back what they still have, then ends what was started: `others`
   * stop meanwhile, and may still use the queues.
   */
  close(others: () => Promise<unknown>): Promise<void>;
}

/** `look` says how it stands with consumers of these names, for the page of metrics; `sink` takes what was given up. */
export async function openInboxes(
  { url, schema, exclusive = false, connections }: InboxPlace,
  options: BusOptions,
  { look, sink }: { readonly look: Look; readonly sink?: DeadLetterSink },
): Promise<Inboxes> {
  const { name, log, closeWithinMs = defaultCloseWithinMs, leaseSeconds = defaultLeaseSeconds } = options;
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
  const unwatch = watchDepths(queues, () => look(queues, consumers));

  async function close(others: () => Promise<unknown>): Promise<void> {
    unwatch();
    const othersStopped = others();
    let handled = false;
    const stopped = Promise.all(inboxes.filter(({ isLate }) => !isLate).map((inbox) => inbox.stop())).then(() => {
      handled = inboxes.every(({ isLate }) => !isLate);
    });
    const late = new AbortController();
    const left = new AbortController();
    await Promise.race([
      Promise.all([stopped, othersStopped]),
      pause(closeWithinMs, undefined, { signal: late.signal }),
    ]);
    late.abort();
    const inProgress = inboxes.reduce((sum, each) => sum + each.inProgress, 0);
    if (!handled && inProgress > 0)
      log.info({ inProgress }, 'What was not done in time is put back, for another process or the next start.');
    const farewell = (async () => {
      if (!handled) await Promise.allSettled(inboxes.map((inbox) => inbox.release()));
      await othersStopped;
      await queues.close();
    })();
    // A database that has gone silent must not keep the process; leases bring back what is in hand.
    await Promise.race([farewell, pause(farewellMs, undefined, { signal: left.signal })]);
    left.abort();
  }

  return {
    queues,
    async subscribe(subscription, connect) {
      checkConsumer(subscription);
      await createInbox(queues, subscription);
      if (exclusive) await putBackAbandoned(queues, subscription.consumer);
      await connect();
      const inbox = await openInbox(queues, subscription, sink);
      inboxes.push(inbox);
      consumers.push(subscription.consumer);
      return inbox;
    },
    async ready() {
      try {
        await queues.query('SELECT 1');
      } catch (error) {
        throw unavailable('The database of the bus', error);
      }
    },
    close,
  };
}

/** Not a consumer: how it stands with what waits to be sent is shown under this name. */
export const OUTBOX = 'outbox';

function checkConsumer({ consumer, routes }: SubscriptionOptions): void {
  if (!/^[a-z][a-z0-9.-]*$/.test(consumer) || isDeadQueue(consumer) || consumer === OUTBOX) {
    throw new Error(`A consumer's name is lower-case letters, digits, dots and hyphens: ${consumer}`);
  }
  const types = routes.map((route) => route.event.type);
  if (new Set(types).size !== types.length) throw new Error(`${consumer} has two routes for one event.`);
}
