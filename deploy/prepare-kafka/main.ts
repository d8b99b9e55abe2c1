// node deploy/prepare-kafka/main.ts: lets the user of each service read and write the topics that the service declares, and no
// others, as a super user of Kafka. For brokers that know the services by users of their names, such as the one of
// docker-compose.yml.
//
// KAFKA_READERS names users of other systems that may read the public events. With the argument `readers` only their rights
// are granted: for brokers that know the services otherwise.
import { KafkaVariables, requiredKafka } from '../../packages/bus/index.ts';
import { grantRights } from '../../packages/bus/kafka/rights/rights.ts';
import { createLog, withSecrets } from '../../packages/runtime/index.ts';
import { ownTopics, rightsByUser, rightsOfReaders } from './rights.ts';

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
