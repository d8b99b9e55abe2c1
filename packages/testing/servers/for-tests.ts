import { randomBytes } from 'node:crypto';

/** The run's Kafka, with a prefix for topics and groups that nobody else has. */
export function kafkaForTests(): { brokers: string[]; prefix: string } {
  return { brokers: need('TEST_KAFKA_BROKERS').split(','), prefix: `test-${randomBytes(6).toString('hex')}.` };
}

/** The run's S3 store, with the name of a bucket that is not there yet. */
export function s3ForTests(): { endpoint: string; accessKey: string; secretKey: string; bucket: string } {
  return {
    endpoint: need('TEST_S3_ENDPOINT'),
    accessKey: need('TEST_S3_ACCESS_KEY'),
    secretKey: need('TEST_S3_SECRET_KEY'),
    bucket: `test-${randomBytes(8).toString('hex')}`,
  };
}

function need(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; npm run test:distributed sets it.`);
  return value;
}
