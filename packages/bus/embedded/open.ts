import type { Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import { depths } from '../queue/depth-metrics.ts';
import { type InboxPlace, openInboxes } from '../delivery/inboxes.ts';
import { broadcast, createListeners, LISTENERS } from './listeners.ts';
import type { BusOptions } from '../config.ts';
import { published } from '../delivery/outcome.ts';
import type { Bus } from '../port.ts';
import { insertJobs, statementsOf } from '../queue/queue-store.ts';
import type { Queues } from '../queue/queues.ts';
import { removePending } from '../queue/remove-pending.ts';
import { caused } from '../delivery/trace.ts';

/** Everything in one PostgreSQL schema: what is published lands in the inboxes with the transaction that says it. */
export async function openEmbedded(place: InboxPlace, options: BusOptions): Promise<Bus> {
  const inboxes = await openInboxes(place, options, { look: depths });
  const { queues } = inboxes;
  const listeners = createListeners(queues);
  let closing: Promise<void> | undefined;
  return {
    publish: (tx, events) => publish(queues, tx, events),
    subscribe(subscription) {
      return inboxes.subscribe(subscription, async () => {
        for (const each of subscription.routes) {
          const topic = each.from === undefined ? each.event.type : topicOf(each.event.type, each.from);
          await queues.boss.subscribe(topic, subscription.consumer);
        }
      });
    },
    listen: (type, hear) => listeners.listen(type, hear),
    removePending: (tx, firmUuid, subject, but) =>
      removePending(tx, queues.schema, { firmUuid, subject, but: but.type }),
    depths: () => depths(queues),
    ready: () => inboxes.ready(),
    close: () => (closing ??= inboxes.close(() => listeners.close())),
  };
}

/** Puts events into the inboxes of those who hear them, when the transaction commits. */
export async function publish(queues: Queues, tx: Sql, events: readonly Event[]): Promise<void> {
  const distinct = [...new Map(events.map((event) => [event.id, caused(event)])).values()];
  for (const { type } of distinct) published.of(queues.name, type).add();
  for (const [consumer, heard] of await audiences(queues, tx, distinct)) {
    if (consumer === LISTENERS) await broadcast(tx, queues.schema, heard);
    else for (const jobs of statementsOf(heard)) await insertJobs(queues, tx, consumer, jobs);
  }
}

/**
 * Which consumer gets which events. Asked in the transaction, so that whoever subscribed before it began is found;
 * in one order, so that two transactions cannot lock each other out.
 */
async function audiences(queues: Queues, tx: Sql, events: readonly Event[]): Promise<Map<string, Event[]>> {
  const audience = new Map<string, Event[]>();
  if (events.length === 0) return audience;
  const subscriptions = await tx.query<{ topic: string; consumer: string }>(
    `SELECT event AS topic, name AS consumer FROM ${queues.schema}.subscription WHERE event = ANY($1) ORDER BY name`,
    [[...new Set(events.flatMap(({ type, source }) => [type, topicOf(type, source)]))]],
  );
  for (const consumer of new Set(subscriptions.map((row) => row.consumer))) {
    const topics = new Set(subscriptions.filter((row) => row.consumer === consumer).map((row) => row.topic));
    audience.set(
      consumer,
      events.filter(({ type, source }) => topics.has(type) || topics.has(topicOf(type, source))),
    );
  }
  return audience;
}

/** What those subscribe to who hear a type of one source alone. */
function topicOf(type: string, source: string): string {
  return `${type}@${source}`;
}
