import { declaredEvents, type EventType } from '@call-analysis/events';
import kafkajs, { type AclEntry, type Admin } from 'kafkajs';
import type { EventUse, BusOptions, Kafka } from '../../config.ts';
import { connect } from '../connection/client.ts';
import { explain } from '../connection/explain.ts';
import { deadLetterTopic } from '../message.ts';

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
    // The prefix of the consumer groups of a reader.
    { on: 'group', name: `${user}.`, isPrefix: true, operations: ['READ'] },
  ];
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

interface GrantOptions extends Pick<BusOptions, 'name' | 'log'> {
  /** Rights on topics and groups of other names stay. Default: none stays. */
  readonly within?: readonly string[];
}

/**
 * Makes these the rights of the users: adds what is missing, then removes what else they had. Rights of other users stay.
 * The user of `kafka` must be a super user of the brokers, which need an authorizer.
 */
export async function grantRights(
  kafka: Kafka,
  users: Readonly<Record<string, readonly Right[]>>,
  { within, ...options }: GrantOptions,
): Promise<void> {
  const ours = within && new Set(within.map((name) => `${kafka.prefix}${name}`));
  const admin = connect(kafka, options).admin();
  try {
    await admin.connect();
    for (const [user, rights] of Object.entries(users)) {
      const wanted = rights.flatMap((right) => entriesOf(kafka, `User:${user}`, right));
      if (wanted.length > 0) await admin.createAcls({ acl: wanted });
      const kept = new Set(wanted.map(keyOf));
      const outdated = (await entriesIn(admin, `User:${user}`)).filter(
        (entry) => !kept.has(keyOf(entry)) && (ours?.has(entry.resourceName) ?? true),
      );
      if (outdated.length > 0) await admin.deleteAcls({ filters: outdated });
      options.log.info({ user, rights: kept.size, removed: outdated.length }, 'the rights in Kafka are granted');
    }
  } catch (error) {
    throw explain(error, kafka);
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

function entriesOf(kafka: Kafka, principal: string, { on, name, isPrefix = false, operations }: Right): AclEntry[] {
  const { AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes } = kafkajs;
  return operations.map((operation) => ({
    resourceType: on === 'topic' ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
    resourceName: `${kafka.prefix}${name}`,
    resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    principal,
    host: '*',
    operation: AclOperationTypes[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));
}

async function entriesIn(admin: Admin, principal: string): Promise<AclEntry[]> {
  const { AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes } = kafkajs;
  const { resources } = await admin.describeAcls({
    resourceType: AclResourceTypes.ANY,
    resourcePatternType: ResourcePatternTypes.ANY,
    principal,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ANY,
  });
  return resources.flatMap(({ acls, ...resource }) => acls.map((acl) => ({ ...resource, ...acl })));
}

function keyOf(entry: AclEntry): string {
  const { resourceType, resourceName, resourcePatternType, host, operation, permissionType } = entry;
  return JSON.stringify([resourceType, resourceName, resourcePatternType, host, operation, permissionType]);
}
