import { deadLetterSuite } from '../dead-letters-under-test.ts';
import { kafkaOf, openKafkaPlace } from './kafka-under-test.ts';

deadLetterSuite('kafka', () => openKafkaPlace(kafkaOf({ partitions: 3 })));
