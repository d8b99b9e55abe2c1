import kafkajs, { type AclEntry, type Admin } from 'kafkajs';
import type { BusOptions, Kafka } from '../../config.ts';
import { connect } from '../connection/client.ts';
import { explain } from '../connection/explain.ts';
import type { Right } from './rights.ts';

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
