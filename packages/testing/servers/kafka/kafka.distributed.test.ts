import { afterEach, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { kafkaForTests } from '../for-tests.ts';
import { toxiproxy } from '../toxiproxy/toxiproxy.ts';
import { makeTopic } from './create-topic.ts';
import { type KafkaOptions, type KafkaServer, startKafka } from './kafka.ts';

const servers: KafkaServer[] = [];

async function start(options: KafkaOptions = {}): Promise<KafkaServer> {
  const server = await startKafka(options);
  servers.push(server);
  return server;
}

afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

/** A broker of one's own has been started, which is slow where much else is. */
const LIMIT_MS = 300_000;

function client(brokers: string[], more: Partial<ConstructorParameters<typeof Kafka>[0]> = {}): Kafka {
  const retry = { retries: 100, initialRetryTime: 100, maxRetryTime: 500 };
  return new Kafka({ brokers, logLevel: logLevel.NOTHING, connectionTimeout: 20_000, retry, ...more });
}

async function make(kafka: Kafka, topic: string): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await makeTopic(admin, { topic, numPartitions: 1 });
  await admin.disconnect();
}

async function send(kafka: Kafka, topic: string, value: string): Promise<void> {
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: [{ value }], acks: -1 });
  await producer.disconnect();
}

async function firstOf(kafka: Kafka, topic: string): Promise<string> {
  const consumer = kafka.consumer({ groupId: `${topic}-readers` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const value = await new Promise<string>((resolve, reject) => {
    consumer.run({ eachMessage: async ({ message }) => resolve(String(message.value)) }).catch(reject);
  });
  await consumer.disconnect();
  return value;
}

it('carries a message, and two tests have different prefixes', async () => {
  const { brokers, prefix } = kafkaForTests();
  expect(kafkaForTests().prefix).not.toBe(prefix);
  const kafka = client(brokers);
  await make(kafka, `${prefix}carried`);
  await send(kafka, `${prefix}carried`, 'hello');
  expect(await firstOf(kafka, `${prefix}carried`)).toBe('hello');
});

it(
  'a broker of one keeps an acknowledged message through SIGKILL and a restart on the same port',
  async () => {
    const server = await start();
    const kafka = client(server.brokers);
    await make(kafka, 'kept');
    await send(kafka, 'kept', 'still here');
    const { pid } = server;
    await server.kill();
    await expect(
      client(server.brokers, { retry: { retries: 0 } })
        .admin()
        .connect(),
    ).rejects.toThrow();
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await firstOf(kafka, 'kept')).toBe('still here');
  },
  LIMIT_MS,
);

it(
  'lets in by password whom it was told of, and nobody else',
  async () => {
    const mechanism = 'SCRAM-SHA-512';
    const server = await start({
      protocol: 'SASL_PLAINTEXT',
      properties: {
        'sasl.enabled.mechanisms': mechanism,
        'listener.name.clients.scram-sha-512.sasl.jaas.config':
          'org.apache.kafka.common.security.scram.ScramLoginModule required;',
      },
      scram: [{ mechanism, username: 'anna', password: 'secret' }],
    });
    const as = (password: string) =>
      client(server.brokers, { sasl: { mechanism: 'scram-sha-512', username: 'anna', password } });
    await make(as('secret'), 'private');
    await expect(make(as('guess'), 'private')).rejects.toThrow(/authentication/i);
  },
  LIMIT_MS,
);

it(
  'can be reached by a link that fails, where it tells clients of that link',
  async () => {
    const server = await start({ advertise: async (address) => (await toxiproxy().proxy('kafka', address)).address });
    const kafka = client(server.brokers);
    await make(kafka, 'through');
    await send(kafka, 'through', 'hello');
    expect(await firstOf(kafka, 'through')).toBe('hello');
  },
  LIMIT_MS,
);
