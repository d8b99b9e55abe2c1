import { declaredEvents, type EventType } from '@call-analysis/events';
import type { EventUse } from '../../config.ts';
import { deadLetterTopic } from '../dead-letters/headers.ts';

/** How a service uses Kafka. */
export interface KafkaUse extends EventUse {
  /** The names of its consumers, which are those of its consumer groups. */
  readonly consumers: readonly string[];
  /** Whether its replicas listen to events, each in groups of its own. */
  readonly listens: boolean;
}

/** The right of a user on a topic or a consumer group. Names are without the prefix of the installation. */
export interface Right {
  readonly on: 'topic' | 'group';
  readonly name: string;
  /** The name is the beginning of names. */
  readonly isPrefix?: boolean;
  readonly operations: readonly ('CREATE' | 'DELETE' | 'DESCRIBE_CONFIGS' | 'READ' | 'WRITE')[];
}

/** The least with which a service can migrate and run. */
export function rightsOfService(name: string, { publishes, consumes, consumers, listens }: KafkaUse): Right[] {
  const topics = (names: readonly string[], operation: 'READ' | 'WRITE') =>
    names.map((topic): Right => ({ on: 'topic', name: topic, operations: [operation, 'CREATE', 'DESCRIBE_CONFIGS'] }));
  return [
    ...topics(typesOf(publishes), 'WRITE'),
    ...topics(typesOf(consumes), 'READ'),
    ...topics(typesOf(consumes).map(deadLetterTopic), 'WRITE'),
    ...consumers.map((group): Right => ({ on: 'group', name: group, operations: ['READ'] })),
    ...(listens ? [{ on: 'group', name: listenerGroups(name), isPrefix: true, operations: ['READ'] } as const] : []),
  ];
}

/** The least with which the admin command can list and replay the dead letters of all services. */
export function rightsOfAdministrator(services: readonly EventUse[]): Right[] {
  const types = [...new Set(services.flatMap(({ consumes }) => typesOf(consumes)))];
  return [
    ...types.map((name): Right => ({ on: 'topic', name, operations: ['WRITE', 'DESCRIBE_CONFIGS'] })),
    // A note of the replay follows the dead letter.
    ...types.map((type): Right => ({ on: 'topic', name: deadLetterTopic(type), operations: ['READ', 'WRITE'] })),
    { on: 'group', name: READERS, isPrefix: true, operations: ['READ', 'DELETE'] },
  ];
}

/** The least with which another system can consume the events that are promised to it (docs/events.md). */
export function rightsOfReader(user: string): Right[] {
  const promised = declaredEvents.filter(({ audience }) => audience === 'public');
  return [
    ...promised.map(({ type }): Right => ({ on: 'topic', name: type, operations: ['READ'] })),
    { on: 'group', name: readerGroups(user), isPrefix: true, operations: ['READ'] },
  ];
}

/** The prefix of the consumer groups of a reader. */
export function readerGroups(user: string): string {
  return `${user}.`;
}

/** The prefix of the consumer groups of a service's listeners. */
export function listenerGroups(service: string): string {
  return `${service}.listener.`;
}

/** The prefix of the consumer groups that read dead letters. */
export const READERS = 'dead-letters.';

function typesOf(events: readonly EventType[]): string[] {
  return events.map(({ type }) => type);
}
