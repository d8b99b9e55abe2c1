export { kafkaForTests, s3ForTests } from './for-tests.ts';
export { makeTopic } from './kafka/create-topic.ts';
export { startKafka, type KafkaOptions, type KafkaServer } from './kafka/kafka.ts';
export { programsDirectory } from './programs.ts';
export { removeBucket, tracesInBucket } from './s3/bucket.ts';
export { startS3, type S3Server } from './s3/s3.ts';
export { toxiproxy, type ToxicProxy } from './toxiproxy/toxiproxy.ts';
