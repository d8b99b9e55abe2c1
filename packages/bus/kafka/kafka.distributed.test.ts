import { busContract } from '../contract.ts';
import { kafkaOf, openKafkaPlace } from './kafka-under-test.ts';

busContract('kafka', () => openKafkaPlace(kafkaOf()));
