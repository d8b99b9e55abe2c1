import { deadLetterContract } from '../../contract/dead-letters.ts';
import { openKafkaTransport, testKafka } from '../../test/kafka.ts';

deadLetterContract('kafka', () => openKafkaTransport(testKafka({ partitions: 3 })));
