// node deploy/prepare-kafka/main.ts: lets the user of each service read and write the topics that the service declares, and no
// others, as a super user of Kafka. For brokers that know the services by users of their names, such as the one of
// docker-compose.yml.
import { requiredKafka } from '../../packages/bus/index.ts';
import { grantRights } from '../../packages/bus/kafka/rights/grant-rights.ts';
import { createLog } from '../../packages/runtime/index.ts';
import { rightsByUser } from './rights.ts';

try {
  const log = createLog({ name: 'prepare-kafka', level: 'info' });
  const kafka = requiredKafka(process.env);
  await grantRights(kafka, await rightsByUser(), { name: 'prepare-kafka', log });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
