import { deadLetterSuite } from '../../contract/dead-letters.ts';
import { kafkaOf, openKafkaPlace } from '../../test/kafka.ts';

deadLetterSuite('kafka', () => openKafkaPlace(kafkaOf({ partitions: 3 })));
