import { busContract } from '../contract/index.ts';
import { kafkaOf, openKafkaPlace } from '../test/kafka.ts';

busContract('kafka', () => openKafkaPlace(kafkaOf()));
