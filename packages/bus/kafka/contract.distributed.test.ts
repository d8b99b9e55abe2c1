import { busContract } from '../contract/index.ts';
import { openKafkaTransport, testKafka } from '../test/kafka.ts';

busContract('kafka', () => openKafkaTransport(testKafka()));
