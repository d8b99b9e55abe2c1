import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { randomOf, waitUntil } from '@call-analysis/testing';
import { type KafkaServer, s3ForTests, startKafka } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requiredKafka } from '../../packages/bus/index.ts';
import { connect } from '../../packages/bus/kafka/connection/client.ts';
import { toMessage } from '../../packages/bus/kafka/message.ts';
import { grantRights } from '../../packages/bus/kafka/rights/rights.ts';
import { type DocumentConsumer, openDocumentConsumer } from '../../packages/bus/test/document-consumer.ts';
import { AudioExtractionRequested, createEvent, declaredEvents } from '../../packages/events/index.ts';
import { newAuthority } from '../../packages/rpc/test/certificates.ts';
import { ownTopics, rightsByUser, rightsOfReaders } from '../prepare-kafka/main.ts';
import { newFirm, recordingsBatch } from '../soak/firm.ts';
import { startReceiver } from '../soak/receiver.ts';
import { administrator } from '../standalone/test/client/new-firm.ts';
import { silence } from '../standalone/test/client/silence.ts';
import { admin } from '../standalone/test/system/command.ts';
import { settled, storedBy } from './test/reconciliation.ts';
import { type DistributedSystem, type ServiceName, SERVICES, startSystem } from './test/system.ts';

const PREFIX = 'calls.';
const authority = newAuthority('Kafka');
const silent = { info() {}, warn() {}, error() {} };

let directory: string;
let kafka: KafkaServer;
let system: DistributedSystem;
let documentConsumer: DocumentConsumer;
const said: string[] = [];
const never = new AbortController().signal;

/** The environment of the admin command. */
function env(): Record<string, string> {
  const kafkaVariables = { KAFKA_BROKERS: kafka.brokers.join(), KAFKA_TOPIC_PREFIX: PREFIX };
  return { ...system.administration, ...kafkaVariables, ...user('admin') };
}

/** The variables of the user, whose password is its name. */
function user(name: string): Record<string, string> {
  return {
    KAFKA_TLS: 'on',
    KAFKA_TLS_CA_FILE: join(directory, 'ca.pem'),
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: name,
    KAFKA_SASL_PASSWORD: name,
  };
}

function kafkaAs(name: string) {
  return requiredKafka({ KAFKA_BROKERS: kafka.brokers.join(), KAFKA_TOPIC_PREFIX: PREFIX, ...user(name) });
}

/** Grants the rights of the user `reader` as the job of the chart does. */
async function grantReader(): Promise<void> {
  const passwordFile = join(directory, 'owner-password');
  await writeFile(passwordFile, 'owner');
  const { KAFKA_SASL_PASSWORD: _, ...owner } = user('owner');
  const command = fileURLToPath(new URL('../prepare-kafka/main.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [command, 'readers'], {
    env: {
      KAFKA_BROKERS: kafka.brokers.join(),
      KAFKA_TOPIC_PREFIX: PREFIX,
      ...owner,
      KAFKA_SASL_PASSWORD_FILE: passwordFile,
      KAFKA_READERS: 'reader',
    },
  });
}

beforeAll(async () => {
  documentConsumer = await openDocumentConsumer();
  directory = await mkdtemp(join(tmpdir(), 'kafka-rights-'));
  await writeFile(join(directory, 'ca.pem'), authority.ca);
  const broker = authority.issue(['127.0.0.1']);
  const users = [...SERVICES, 'admin', 'guest', 'owner', 'reader'].map((name) => `user_${name}="${name}"`).join(' ');
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule';
  kafka = await startKafka({
    protocol: 'SASL_SSL',
    properties: {
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.key': broker.key,
      'ssl.keystore.certificate.chain': broker.cert,
      'sasl.enabled.mechanisms': 'PLAIN',
      // As in docker-compose.yml.
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS;User:owner',
      'listener.name.clients.plain.sasl.jaas.config': `${plain} required ${users};`,
    },
  });
  await grantRights(kafkaAs('owner'), await rightsByUser(), { name: 'test', log: silent });
  await grantReader();
  const variables = Object.fromEntries(SERVICES.map((name) => [name, user(name)])) as Record<
    ServiceName,
    Record<string, string>
  >;
  variables.transcription['SPEECH_COMMAND'] = JSON.stringify(['/bin/echo', 'Good morning, how can I help you?']);
  variables.webhooks['WEBHOOK_ALLOW_PRIVATE'] = 'true';
  const adminUrl = process.env['TEST_DATABASE_URL'];
  if (adminUrl === undefined) throw new Error('TEST_DATABASE_URL is not set; npm run test:distributed sets it.');
  system = await startSystem({
    servers: { adminUrl, kafka: { brokers: kafka.brokers, prefix: PREFIX }, store: s3ForTests() },
    variables,
    onLine: (service, line) => said.push(`${service}: ${line}`),
  });
}, 600_000);

afterAll(async () => {
  await system?.stop();
  await kafka?.stop();
  await rm(directory, { recursive: true, force: true });
}, 120_000);

describe('services whose users have the rights in Kafka that they declare', () => {
  it('do all that they do without a refusal', async () => {
    const receiver = await startReceiver(randomOf(1, 'receiver'));
    const stored = storedBy(system, { brokers: kafka.brokers, prefix: PREFIX }, user('admin'));
    try {
      const firm = await newFirm(system, receiver);
      const { client } = firm;
      const batch = await client.batch(3);
      await client.recording(new Uint8Array(silence(1)));
      await client.campaign('rights', 2);
      await recordingsBatch(firm, 2, 'rights', { ...randomOf(1, 'archive'), integer: () => 0 }, never);
      // Also the outboxes: an event that its service may not write stays there.
      await settled(stored, firm.uuid, 120_000);
      expect((await client.readBatch(batch)).body.finished_at).not.toBeNull();
      const list = () => client.ask<{ items: { uuid: string }[] }>('list', 'GET', '/api/v1/calls');
      const { items } = (await list()).body;
      await client.erase(items[0]!.uuid);
      const told = () => [...receiver.told(firm.uuid).values()].flat();
      await waitUntil(() => told().includes('call.completed') && told().includes('batch.finished'));
      const ofFirm = { firmuuid: firm.uuid, priority: 0, traceparent: undefined };
      const misfit = createEvent('ingest', AudioExtractionRequested, randomUUID(), ofFirm, {} as never);
      const producer = connect(kafkaAs('owner'), { name: 'test', log: silent }).producer();
      await producer.connect();
      await producer.send({ topic: `${PREFIX}${misfit.type}`, messages: [toMessage(misfit)] });
      await producer.disconnect();
      await waitUntil(async () => (await stored.deadLetters()).length === 1);
      expect(await admin(env(), 'dead-letter', 'replay', '--consumer', 'audio.extract')).toMatchObject({
        replayed: 1,
      });
      await settled(stored, firm.uuid, 120_000);
      const administration = administrator(system.administration);
      const removal = await administration.removeFirm(firm.uuid, 'Soak', 60_000);
      administration.close();
      expect(removal).toMatchObject({ finished_at: expect.any(String) });
      expect(said.filter((line) => /authoriz/i.test(line))).toEqual([]);
    } finally {
      receiver.stop();
    }
  }, 300_000);

  it('neither write nor read what they do not declare, nor join the groups of others', async () => {
    const audio = connect(kafkaAs('audio'), { name: 'test', log: silent });
    const producer = audio.producer({ retry: { retries: 0 } });
    await producer.connect();
    const send = producer.send({ topic: `${PREFIX}api-key.revoked.v1`, messages: [{ value: '{}' }] });
    await expect(send).rejects.toThrow(/authoriz|does not host this topic/i);
    await producer.disconnect();
    const visible = async (name: string) => {
      const client = connect(kafkaAs(name), { name: 'test', log: silent }).admin();
      await client.connect();
      const topics = await client.listTopics();
      await client.disconnect();
      return topics.map((topic) => topic.slice(PREFIX.length)).toSorted();
    };
    expect(await visible('gateway')).toEqual(
      ['api-key.revoked.v1', 'firm.removed.v1'].flatMap((type) => [type, `${type}.dlq`]),
    );
    expect(await visible('webhooks')).not.toContain('transcript.ready.v1');
    const asked = audio.admin({ retry: { retries: 0 } });
    await asked.connect();
    await asked.fetchOffsets({ groupId: `${PREFIX}audio.extract` });
    await expect(asked.fetchOffsets({ groupId: `${PREFIX}ingest.catalogue` })).rejects.toThrow();
    await asked.disconnect();
  });

  it('lose a right that is no longer declared', async () => {
    const rights = [{ on: 'topic', name: 'test.old.v1', operations: ['CREATE', 'READ'] }] as const;
    const client = connect(kafkaAs('guest'), { name: 'test', log: silent }).admin();
    await client.connect();
    const create = () =>
      client.createTopics({ waitForLeaders: false, topics: [{ topic: `${PREFIX}test.old.v1`, numPartitions: 1 }] });
    await grantRights(kafkaAs('owner'), { guest: [] }, { name: 'test', log: silent });
    await expect(create()).rejects.toThrow();
    await grantRights(kafkaAs('owner'), { guest: rights }, { name: 'test', log: silent });
    expect(await client.listTopics()).toEqual([]);
    await create();
    expect(await client.listTopics()).toEqual([`${PREFIX}test.old.v1`]);
    await grantRights(kafkaAs('owner'), { guest: [] }, { name: 'test', log: silent });
    expect(await client.listTopics()).toEqual([]);
    await client.disconnect();
  });
});

describe('a user of another system', () => {
  it('consumes the events of a call by the AsyncAPI document alone, in another language', async () => {
    const receiver = await startReceiver(randomOf(1, 'receiver of the reader'));
    const stored = storedBy(system, { brokers: kafka.brokers, prefix: PREFIX }, user('admin'));
    try {
      const firm = await newFirm(system, receiver);
      const batch = await firm.client.batch(1);
      await settled(stored, firm.uuid, 120_000);
      const list = await firm.client.ask<{ items: { uuid: string; score: number | null }[] }>(
        'list',
        'GET',
        '/api/v1/calls',
      );
      const [call] = list.body.items;
      const document = await (await fetch(`${system.url}/asyncapi.json`)).text();
      const configuration = {
        'bootstrap.servers': kafka.brokers.join(),
        'security.protocol': 'SASL_SSL',
        'ssl.ca.location': join(directory, 'ca.pem'),
        'sasl.mechanism': 'PLAIN',
        'sasl.username': 'reader',
        'sasl.password': 'reader',
      };
      const consume = (group: string, subject: string, types: readonly string[]) =>
        documentConsumer.consume({ document, configuration: { ...configuration, 'group.id': group }, subject, types });
      const [finished] = await consume(`${PREFIX}reader.batches`, batch, ['batch.finished.v1']);
      expect(finished!.body).toMatchObject({ by_status: { completed: 1 } });
      await firm.client.erase(call!.uuid);
      const events = await consume(`${PREFIX}reader.calls`, call!.uuid, ['call.ended.v1', 'call.erased.v1']);
      const ended = events.find(({ type }) => type === 'call.ended.v1')!;
      expect(ended.body).toMatchObject({ status: 'completed', score: call!.score, batch_uuid: batch });
      expect(ended.headers).toMatchObject({ ce_firmuuid: firm.uuid, ce_source: 'ingest' });
    } finally {
      receiver.stop();
    }
  }, 300_000);

  it('sees the public events and nothing else, and writes nowhere', async () => {
    const client = connect(kafkaAs('reader'), { name: 'test', log: silent });
    const asked = client.admin({ retry: { retries: 0 } });
    await asked.connect();
    const promised = declaredEvents.filter(({ audience }) => audience === 'public');
    expect((await asked.listTopics()).toSorted()).toEqual(promised.map(({ type }) => `${PREFIX}${type}`).toSorted());
    await expect(asked.fetchOffsets({ groupId: `${PREFIX}ingest.catalogue` })).rejects.toThrow();
    await asked.disconnect();
    const producer = client.producer({ retry: { retries: 0 } });
    await producer.connect();
    const send = producer.send({ topic: `${PREFIX}call.ended.v1`, messages: [{ value: '{}' }] });
    await expect(send).rejects.toThrow(/authoriz/i);
    await producer.disconnect();
  });

  it('keeps its rights on topics of others, and loses those on ours that are no longer promised', async () => {
    const options = { name: 'test', log: silent };
    const right = (name: string) => ({ on: 'topic', name, operations: ['READ', 'CREATE'] }) as const;
    const guest = connect(kafkaAs('guest'), options).admin();
    await guest.connect();
    const visible = async () => (await guest.listTopics()).map((topic) => topic.slice(PREFIX.length));
    try {
      await grantRights(kafkaAs('owner'), { guest: [right('reports'), right('call.analyzed.v1')] }, options);
      await guest.createTopics({ waitForLeaders: false, topics: [{ topic: `${PREFIX}reports`, numPartitions: 1 }] });
      expect(await visible()).toEqual(expect.arrayContaining(['reports', 'call.analyzed.v1']));
      await grantRights(kafkaAs('owner'), rightsOfReaders('guest'), { ...options, within: ownTopics });
      expect(await visible()).toEqual(expect.arrayContaining(['reports', 'call.ended.v1']));
      expect(await visible()).not.toContain('call.analyzed.v1');
    } finally {
      await grantRights(kafkaAs('owner'), { guest: [] }, options);
      await guest.disconnect();
    }
  });
});
