import type { Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { BusOptions, QueueConfig } from '../config.ts';
import { openInboxes } from '../delivery/inboxes.ts';
import { countPublished } from '../delivery/outcome.ts';
import { withOrigin } from '../delivery/trace.ts';
import type { Bus } from '../port.ts';
import { jobListsOf } from '../queue/event-batch.ts';
import { findSubscriptions, insertJobs, readDepths } from '../queue/queue-store.ts';
import type { Queues } from '../queue/queues.ts';
import { removePending } from '../queue/remove-pending.ts';
import { broadcast, createListeners, LISTENERS } from './listeners.ts';

/** The embedded transport: publishing inserts events straight into the inboxes of their consumers, in the same schema. */
export async function openEmbedded(config: QueueConfig, options: BusOptions): Promise<Bus> {
  const inboxes = await openInboxes(config, options, { readDepths });
  const { queues } = inboxes;
  const listeners = createListeners(queues);
  let closing: Promise<void> | undefined;
  return {
    publish: (tx, events) => publish(queues, tx, events),
    subscribe(subscription) {
      return inboxes.subscribe(subscription, async () => {
        const topics = subscription.routes.map(({ event, from }) =>
          from === undefined ? event.type : topicOf(event.type, from),
        );
        const stored = await findSubscriptions(queues, queues.schema, topics);
        for (const topic of topics) {
          if (stored.some((row) => row.topic === topic && row.consumer === subscription.consumer)) continue;
          await queues.boss.subscribe(topic, subscription.consumer);
        }
      });
    },
    listen: (type, onEvent) => listeners.listen(type, onEvent),
    removePending: (tx, firmUuid, subject, except) =>
      removePending(tx, queues.schema, { firmUuid, subject, except: except.map(({ type }) => type) }),
    removePendingOfFirm: (tx, firmUuid, except, limit) =>
      removePending(tx, queues.schema, { firmUuid, except: except.map(({ type }) => type) }, limit),
    depths: () => readDepths(queues),
    ready: () => inboxes.ready(),
    close: () => (closing ??= inboxes.close(() => listeners.close())),
  };
}

/** Inserts events into the inboxes of their consumers when the transaction commits. */
export async function publish(queues: Queues, tx: Sql, events: readonly Event[]): Promise<void> {
  const distinct = [...new Map(events.map((event) => [event.id, withOrigin(event)])).values()];
  countPublished(queues.name, distinct);
  for (const [consumer, wanted] of await eventsByConsumer(queues, tx, distinct)) {
    if (consumer === LISTENERS) await broadcast(tx, queues.schema, wanted);
    else for (const jobs of jobListsOf(wanted)) await insertJobs(queues, tx, consumer, jobs);
  }
}

/** Reads the subscriptions in the transaction, so that a consumer that subscribed before it began is found. */
async function eventsByConsumer(queues: Queues, tx: Sql, events: readonly Event[]): Promise<Map<string, Event[]>> {
  if (events.length === 0) return new Map();
  const subscriptions = await findSubscriptions(tx, queues.schema, [
    ...new Set(events.flatMap(({ type, source }) => [type, topicOf(type, source)])),
  ]);
  return new Map(
    [...Map.groupBy(subscriptions, ({ consumer }) => consumer)].map(([consumer, rows]) => {
      const topics = new Set(rows.map(({ topic }) => topic));
      return [consumer, events.filter(({ type, source }) => topics.has(type) || topics.has(topicOf(type, source)))];
    }),
  );
}

/** The topic of the events that one source publishes. */
function topicOf(type: string, source: string): string {
  return `${type}@${source}`;
}
