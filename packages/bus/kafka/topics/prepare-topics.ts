import { setTimeout as pause } from 'node:timers/promises';
import type { EventType } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { BusOptions } from '../../config.ts';
import type { Kafka } from '../../kafka-config.ts';
import { connect } from '../connection/client.ts';
import { explain } from '../connection/explain.ts';
import { deadLetterTopic } from '../dead-letters/headers.ts';
import { topicOf } from './topic.ts';
import { ensureTopics } from './topics.ts';

/** A broker refuses requests while it starts, and while other processes create the same topics. */
const RETRY_FOR_MS = 30_000;
const RETRY_EVERY_MS = 500;

/** Creates the topics of these events that are missing, and the dead-letter topics of those that are consumed. */
export async function prepareTopics(
  kafka: Kafka,
  { publishes, consumes }: { readonly publishes: readonly EventType[]; readonly consumes: readonly EventType[] },
  options: Pick<BusOptions, 'name' | 'log'>,
): Promise<void> {
  const types = [...publishes, ...consumes].map(({ type }) => type);
  const topics = [...types, ...consumes.map(({ type }) => deadLetterTopic(type))].map((each) => topicOf(kafka, each));
  const giveUpAt = Date.now() + RETRY_FOR_MS;
  for (;;) {
    const admin = connect(kafka, options).admin();
    try {
      await admin.connect();
      return await ensureTopics(admin, topics, kafka, options.log);
    } catch (thrown) {
      const error = explain(thrown, kafka);
      if (!(error instanceof Fault) || error.kind !== 'unavailable' || Date.now() > giveUpAt) throw error;
    } finally {
      await admin.disconnect().catch(() => {});
    }
    await pause(RETRY_EVERY_MS);
  }
}
