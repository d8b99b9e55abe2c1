import { randomBytes } from 'node:crypto';

/** The Kafka of the test run, with a unique prefix for topics and groups. */
export function kafkaForTests(): { brokers: string[]; prefix: string } {
  return { brokers: need('TEST_KAFKA_BROKERS').split(','), prefix: `test-${randomBytes(6).toString('hex')}.` };
}

/** The S3 store of the test run, with the name of a bucket that does not exist yet. */
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
