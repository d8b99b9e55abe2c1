import { unavailable } from '@call-analysis/fault';
import { openObjects } from '@call-analysis/objects';
import { openDatabase, shareConnections } from '@call-analysis/postgres';
import { type BusOptions, type Kafka, type KafkaConfig, topicRetentionDays } from '../config.ts';
import type { DeadLetterSink } from '../delivery/give-up.ts';
import { openInboxes } from '../delivery/inboxes.ts';
import { countPublished } from '../delivery/outcome.ts';
import { withOrigin } from '../delivery/trace.ts';
import type { Bus, ConsumerDepth, Listener } from '../port.ts';
import { readDepths } from '../queue/queue-store.ts';
import { createErrorLog, type Queues } from '../queue/queues.ts';
import { removePending } from '../queue/remove-pending.ts';
import { connect } from './connection/client.ts';
import { createKafkaListeners } from './consumer/listeners.ts';
import { openReader, type Reader } from './consumer/reader.ts';
import { startRemovingOldBodies } from './large-bodies.ts';
import { deadLetterHeaders, deadLetterTopic } from './message.ts';
import { removeRowsOfFirm } from './outbox/outbox-store.ts';
import { outboxDepth, putIntoOutbox, removeOutgoing, requireOutbox } from './outbox/outbox.ts';
import { startRelay } from './outbox/relay.ts';
import { createSender } from './outbox/sender.ts';
import { createKnownTopics, type KnownTopics } from './topics/known-topics.ts';

/**
 * The Kafka transport: the outbox and the inboxes are in the service's own database, with Kafka between them. Publishing
 * writes to the outbox in the publisher's transaction. One process of the service relays the outbox to Kafka, and every
 * service reads the events of its consumers into its own inboxes.
 */
export async function openKafka(config: KafkaConfig, options: BusOptions): Promise<Bus> {
  const { kafka, url, schema } = config;
  const { name, log } = options;
  const inboxes = await openInboxes(config, options, {
    readDepths: readAllDepths,
    sink: createDeadLetterSink({ overflow: config.overflow !== undefined }),
  });
  const { queues } = inboxes;
  try {
    await requireOutbox(queues);
  } catch (error) {
    await inboxes.close(async () => {});
    throw error;
  }
  const client = connect(kafka, { name, log });
  const overflow = config.overflow === undefined ? undefined : await openObjects(config.overflow);
  const oldBodies = overflow && startRemovingOldBodies(overflow, { afterDays: topicRetentionDays(kafka), log });
  // Unlike the connections of the queues, these commit synchronously.
  const inboxDatabase = openDatabase({
    url,
    schema,
    poolSize: shareConnections(config.connections).readers,
    applicationName: `${name} readers`,
  });
  const topics = createKnownTopics(client, kafka, log);
  const { logBackgroundError } = queues;
  const listeners = createKafkaListeners({ client, kafka, topics, log, name, logBackgroundError });
  const sender = createSender({ client, kafka, topics, log, overflow });
  const relay = startRelay(queues, { url, sender });
  const readers = new Map<string, Reader>();
  let closing: Promise<void> | undefined;

  return {
    async publish(tx, events) {
      const distinct = [...new Map(events.map((event) => [event.id, withOrigin(event)])).values()];
      await putIntoOutbox(
        tx,
        schema,
        distinct.map((event) => ({ event })),
        { overflow: overflow !== undefined },
      );
      countPublished(name, distinct);
    },
    subscribe(subscription) {
      const { consumer, routes } = subscription;
      return inboxes.subscribe(subscription, async () => {
        const reader = readers.get(consumer);
        if (reader !== undefined) reader.addRoutes(routes);
        else if (routes.length > 0) {
          readers.set(
            consumer,
            openReader({ client, kafka, topics, queues, sql: inboxDatabase, consumer, routes, overflow }),
          );
        }
      });
    },
    listen: (type, onEvent) => listeners.listen(type, onEvent),
    async removePending(tx, firmUuid, subject, excepted) {
      const target = { firmUuid, subject, except: excepted.map(({ type }) => type) };
      const outgoing = await removeOutgoing(tx, schema, target);
      const incoming = await removePending(tx, schema, target);
      return { removed: outgoing + incoming.removed, inProgress: incoming.inProgress };
    },
    async removePendingOfFirm(tx, firmUuid, excepted, limit) {
      const target = { firmUuid, except: excepted.map(({ type }) => type) };
      const outgoing = await removeRowsOfFirm(tx, schema, target, limit);
      const incoming = await removePending(tx, schema, target, limit);
      return { removed: outgoing + incoming.removed, inProgress: incoming.inProgress };
    },
    depths: () => readAllDepths(queues),
    async ready() {
      await inboxes.ready();
      await requireKafka(topics, [relay.fault, listeners.fault, ...[...readers.values()].map(({ fault }) => fault)]);
    },
    close: () =>
      (closing ??= inboxes.close(async () => {
        const reading = [...readers.values()].map((reader) => reader.close());
        await Promise.all([oldBodies?.stop(), listeners.close(), ...reading]);
        await relay.close();
        await Promise.all([sender.close(), topics.close(), inboxDatabase.close()]);
      })),
  };
}

/** For a process that only listens. It needs no database. */
export async function openKafkaListener(kafka: Kafka, { name, log }: BusOptions): Promise<Listener> {
  const client = connect(kafka, { name, log });
  const topics = createKnownTopics(client, kafka, log);
  const logBackgroundError = createErrorLog(log);
  const listeners = createKafkaListeners({ client, kafka, topics, log, name, logBackgroundError });
  let closing: Promise<void> | undefined;
  return {
    listen: (type, onEvent) => listeners.listen(type, onEvent),
    ready: () => requireKafka(topics, [listeners.fault]),
    close: () => (closing ??= listeners.close().then(() => topics.close())),
  };
}

async function readAllDepths(queues: Queues, consumers?: readonly string[]): Promise<ConsumerDepth[]> {
  const [outbox, inboxes] = await Promise.all([outboxDepth(queues), readDepths(queues, consumers)]);
  return [...inboxes, outbox];
}

/** Rejects with Fault UNAVAILABLE when the brokers do not answer or there is a fault. */
async function requireKafka(topics: KnownTopics, faults: readonly (Error | undefined)[]): Promise<void> {
  await topics.checkBrokers();
  const fault = faults.find((each) => each !== undefined);
  if (fault !== undefined) throw unavailable('Kafka', fault);
}

/** Sends events that are given up to their dead-letter topic, by way of the outbox so that none can be lost. */
function createDeadLetterSink(options: { readonly overflow: boolean }): DeadLetterSink {
  return async (queues, consumer, event, reason) => {
    const topic = deadLetterTopic(event.type);
    const headers = deadLetterHeaders(consumer, reason, new Date());
    await putIntoOutbox(queues, queues.schema, [{ event, topic, headers }], options);
  };
}
