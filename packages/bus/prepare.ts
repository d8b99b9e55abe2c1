import { setTimeout as pause } from 'node:timers/promises';
import type { EventType } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { ensureSchema } from '@call-analysis/postgres';
import { connect } from './kafka/connection/client.ts';
import { explain } from './kafka/connection/explain.ts';
import { haveTopics, topicOf } from './kafka/topics/topics.ts';
import { migrateBus } from './queue/migrate.ts';
import type { ListenConfig } from './open.ts';
import type { Log } from './queue/queues.ts';

/**
 * While others make the same topics the broker answers as if it were not there; it may also start at the same time as we.
 */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 500;

/** The events that a service publishes and consumes. */
export interface EventUse {
  readonly publishes: readonly EventType[];
  readonly consumes: readonly EventType[];
}

/**
 * Brings up to date what a service's part of the bus needs: its queues and, over Kafka, the topics of its facts and of the
 * dead letters of those it hears. Safe to do again, and by several at once.
 */
export async function prepareBus(
  config: ListenConfig,
  facts: EventUse,
  options: { name: string; log: Log },
): Promise<void> {
  if ('url' in config) {
    await ensureSchema(config);
    await migrateBus(config);
  }
  if (config.transport !== 'kafka') return;
  const { kafka } = config;
  const types = [...facts.publishes, ...facts.consumes].map(({ type }) => type);
  const dead = facts.consumes.map(({ type }) => `${type}.dlq`);
  const topics = [...types, ...dead].map((each) => topicOf(kafka, each));
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const admin = connect(kafka, options).admin();
    try {
      await admin.connect();
      return await haveTopics(admin, topics, kafka, options.log);
    } catch (thrown) {
      const error = explain(thrown, kafka);
      if (!(error instanceof Fault) || error.kind !== 'unavailable' || Date.now() > giveUpAt) throw error;
    } finally {
      await admin.disconnect().catch(() => {});
    }
    await pause(AGAIN_MS);
  }
}
