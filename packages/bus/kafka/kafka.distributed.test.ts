import { busContract } from '../contract/index.ts';
import { kafkaOf, openKafkaPlace } from './kafka-under-test.ts';

busContract('kafka', () => openKafkaPlace(kafkaOf()));
