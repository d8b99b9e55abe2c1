// node deploy/prepare-kafka/main.ts: lets the user of each service read and write the topics that the service declares, and no
// others, as a super user of Kafka. For brokers that know the services by users of their names, such as the one of
// docker-compose.yml.
//
// KAFKA_READERS names users of other systems that may read the public events. With the argument `readers` only their rights
// are granted: for brokers that know the services otherwise.
import { KafkaVariables, requiredKafka } from '../../packages/bus/index.ts';
import { deadLetterTopic } from '../../packages/bus/kafka/message.ts';
import {
  grantRights,
  type KafkaUse,
  type Right,
  rightsOfAdministrator,
  rightsOfReader,
  rightsOfService,
} from '../../packages/bus/kafka/rights/rights.ts';
import { declaredEvents } from '../../packages/events/index.ts';
import { createLog, withSecrets } from '../../packages/runtime/index.ts';

const SERVICES = ['gateway', 'key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'];
/** Their consumer groups begin with these names. */
const RESERVED = new Set([...SERVICES, 'admin', 'dead-letters']);

/** The rights in Kafka by user. Each service has a user of its name, the admin command has `admin`. */
export async function rightsByUser(): Promise<Record<string, readonly Right[]>> {
  const uses = await Promise.all(
    SERVICES.map(async (service) => {
      const { events } = (await import(`../../services/${service}/start.ts`)) as { events: KafkaUse };
      return [service, events] as const;
    }),
  );
  return {
    ...Object.fromEntries(uses.map(([service, use]) => [service, rightsOfService(service, use)])),
    admin: rightsOfAdministrator(uses.map(([, use]) => use)),
  };
}

/** The rights of the users of other systems that may read the public events, whose names are separated by commas. */
export function rightsOfReaders(names: string): Record<string, readonly Right[]> {
  const users = names.split(',').map((name) => name.trim());
  for (const user of users) {
    // A certificate's name would need a rule of the brokers that maps it to one word.
    if (!/^[A-Za-z0-9_-]{1,100}$/.test(user))
      throw new Error(`KAFKA_READERS: ${user || 'an empty name'} is no name of a user.`);
    if (RESERVED.has(user)) throw new Error(`KAFKA_READERS: ${user} is the name of a user of this system.`);
  }
  return Object.fromEntries(users.map((user) => [user, rightsOfReader(user)]));
}

/** The topics of this system. A reader may have rights on others, which are not ours to remove. */
export const ownTopics = declaredEvents.flatMap(({ type }) => [type, deadLetterTopic(type)]);

if (import.meta.main) {
  try {
    const log = createLog({ name: 'prepare-kafka', level: 'info' });
    const kafka = requiredKafka(withSecrets(process.env, [KafkaVariables]));
    const readers = process.env['KAFKA_READERS'];
    if (process.argv[2] !== 'readers') await grantRights(kafka, await rightsByUser(), { name: 'prepare-kafka', log });
    if (readers) await grantRights(kafka, rightsOfReaders(readers), { name: 'prepare-kafka', log, within: ownTopics });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
