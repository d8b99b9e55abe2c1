import { unavailable } from '@call-analysis/fault';
import { type ObjectsConfig, openObjects } from '@call-analysis/objects';
import { openDatabase, shareConnections } from '@call-analysis/postgres';
import { depths } from '../queue/depth-metrics.ts';
import { type InboxPlace, openInboxes } from '../delivery/inboxes.ts';
import type { BusOptions } from '../config.ts';
import { published } from '../delivery/outcome.ts';
import type { Bus, Listener } from '../port.ts';
import { type Queues, quieten } from '../queue/queues.ts';
import { removePending } from '../queue/remove-pending.ts';
import { goneAfterDays } from '../retention.ts';
import { caused } from '../delivery/trace.ts';
import { connect } from './connection/client.ts';
import type { Kafka } from './config.ts';
import { toDeadLetterTopics } from './dead-letters/headers.ts';
import { createKnownTopics, type KnownTopics } from './topics/known-topics.ts';
import { createKafkaListeners } from './consumer/listeners.ts';
import { tendBodies } from './old-bodies.ts';
import { removeOutgoing, needOutbox, outboxDepth, putIntoOutbox } from './outbox/outbox.ts';
import { openReader, type Reader } from './consumer/reader.ts';
import { startRelay } from './outbox/relay.ts';
import { createSender } from './outbox/sender.ts';

export interface KafkaPlace extends InboxPlace {
  readonly kafka: Kafka;
  /** Where bodies lie that are too large for a message; all services share it. */
  readonly overflow?: ObjectsConfig | undefined;
}

/**
 * Outbox and inboxes in the service's own database, Kafka between them. What is published lies in the outbox with the
 * transaction that says it; one process of the service relays it to Kafka, and every service reads what its consumers
 * hear into its own inboxes.
 */
export async function openKafka(place: KafkaPlace, options: BusOptions): Promise<Bus> {
  const { kafka, url, schema } = place;
  const { name, log } = options;
  const inboxes = await openInboxes(place, options, {
    look: allDepths,
    sink: toDeadLetterTopics({ overflow: place.overflow !== undefined }),
  });
  const { queues } = inboxes;
  try {
    await needOutbox(queues);
  } catch (error) {
    await inboxes.close(async () => {});
    throw error;
  }
  const client = connect(kafka, { name, log });
  const overflow = place.overflow === undefined ? undefined : await openObjects(place.overflow);
  const bodies = overflow && tendBodies(overflow, { afterDays: goneAfterDays(kafka), log });
  // Unlike the queues' own connections these wait until what they write is safe.
  const inboxDatabase = openDatabase({
    url,
    schema,
    poolSize: shareConnections(place.connections).readers,
    applicationName: `${name} readers`,
  });
  const topics = createKnownTopics(client, kafka, log);
  const listeners = createKafkaListeners({ client, kafka, topics, log, name, complain: queues.complain });
  const sender = createSender({ client, kafka, topics, log, overflow });
  const relay = startRelay(queues, { url, sender });
  const readers = new Map<string, Reader>();
  let closing: Promise<void> | undefined;

  return {
    async publish(tx, events) {
      const distinct = [...new Map(events.map((event) => [event.id, caused(event)])).values()];
      await putIntoOutbox(
        tx,
        schema,
        distinct.map((event) => ({ event })),
        { overflow: overflow !== undefined },
      );
      for (const { type } of distinct) published.of(name, type).add();
    },
    subscribe(subscription) {
      const { consumer, routes } = subscription;
      return inboxes.subscribe(subscription, async () => {
        const reader = readers.get(consumer);
        if (reader !== undefined) reader.hear(routes);
        else if (routes.length > 0) {
          readers.set(
            consumer,
            openReader({ client, kafka, topics, queues, sql: inboxDatabase, consumer, routes, overflow }),
          );
        }
      });
    },
    listen: (type, hear) => listeners.listen(type, hear),
    async removePending(tx, firmUuid, subject, but) {
      const about = { firmUuid, subject, but: but.type };
      const outgoing = await removeOutgoing(tx, schema, about);
      const incoming = await removePending(tx, schema, about);
      return { removed: outgoing.removed + incoming.removed, inProgress: incoming.inProgress };
    },
    depths: () => allDepths(queues),
    async ready() {
      await inboxes.ready();
      await travels(topics, [relay.fault, listeners.fault, ...[...readers.values()].map(({ fault }) => fault)]);
    },
    close: () =>
      (closing ??= inboxes.close(async () => {
        await Promise.all([bodies?.end(), listeners.close(), ...[...readers.values()].map((reader) => reader.close())]);
        await relay.close();
        await Promise.all([sender.close(), topics.close(), inboxDatabase.close()]);
      })),
  };
}

/** Hears facts without a database of one's own. */
export async function openKafkaListener(kafka: Kafka, { name, log }: BusOptions): Promise<Listener> {
  const client = connect(kafka, { name, log });
  const topics = createKnownTopics(client, kafka, log);
  const listeners = createKafkaListeners({ client, kafka, topics, log, name, complain: quieten(log) });
  let closing: Promise<void> | undefined;
  return {
    listen: (type, hear) => listeners.listen(type, hear),
    ready: () => travels(topics, [listeners.fault]),
    close: () => (closing ??= listeners.close().then(() => topics.close())),
  };
}

async function allDepths(queues: Queues, consumers?: readonly string[]) {
  const [outbox, inboxes] = await Promise.all([outboxDepth(queues), depths(queues, consumers)]);
  return [...inboxes, outbox];
}

async function travels(topics: KnownTopics, faults: readonly (Error | undefined)[]): Promise<void> {
  await topics.answers();
  const fault = faults.find((each) => each !== undefined);
  if (fault !== undefined) throw unavailable('Kafka', fault);
}
