import { kafkaForTests } from '@call-analysis/testing/servers';
import { deadLetterSuite } from './test/dead-letter-suite.ts';

const { brokers, prefix } = kafkaForTests();
deadLetterSuite({ KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC_PREFIX: prefix, KAFKA_TOPIC_PARTITIONS: '1' });
