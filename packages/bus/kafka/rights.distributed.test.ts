import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { newTraceparent } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { type KafkaServer, startKafka } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import kafkajs, { type AclEntry } from 'kafkajs';
import { z } from 'zod';
import type { Kafka } from '../config.ts';
import { openBus, openDeadLetters, prepareBus } from '../open.ts';
import { Poison, route } from '../port.ts';
import { type KafkaUnderTest, openKafkaTransport } from '../test/kafka.ts';
import { connect } from './connection/client.ts';

const Good = eventType('test.good.v1', z.unknown());
const Bad = eventType('test.bad.v1', z.unknown());
const warnings: string[] = [];
const logWarning = (_: object, message?: string) => void warnings.push(message ?? '');
const log = { info() {}, warn: logWarning, error: logWarning };
const silent = { info() {}, warn() {}, error() {} };

let server: KafkaServer;
let transport: KafkaUnderTest;

function kafkaAs(username: string): Kafka {
  return {
    brokers: server.brokers,
    sasl: { mechanism: 'plain', username, password: username },
    topics: { create: true, partitions: 1, replication: 1, retentionMs: 3_600_000 },
    prefix: 'calls.',
  };
}

beforeAll(async () => {
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule';
  server = await startKafka({
    protocol: 'SASL_PLAINTEXT',
    properties: {
      'sasl.enabled.mechanisms': 'PLAIN',
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS;User:operator',
      'listener.name.clients.plain.sasl.jaas.config': `${plain} required user_operator="operator" user_service="service";`,
    },
  });
  await allow();
  transport = await openKafkaTransport(kafkaAs('operator'));
}, 300_000);
afterAll(async () => {
  await transport?.close();
  await server?.stop();
});

/** The rights that docs/clusters.md lists, and no others. */
async function allow(): Promise<void> {
  const { AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes } = kafkajs;
  const { CREATE, DESCRIBE_CONFIGS, READ, WRITE, DELETE } = AclOperationTypes;
  const on = (resourceType: number, operations: readonly number[]): AclEntry[] =>
    operations.map((operation) => ({
      resourceType,
      resourceName: 'calls.',
      resourcePatternType: ResourcePatternTypes.PREFIXED,
      principal: 'User:service',
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    }));
  const admin = connect(kafkaAs('operator'), { name: 'test', log: silent }).admin();
  await admin.connect();
  await admin.createAcls({
    acl: [
      ...on(AclResourceTypes.TOPIC, [CREATE, DESCRIBE_CONFIGS, READ, WRITE]),
      ...on(AclResourceTypes.GROUP, [READ, DELETE]),
    ],
  });
  await admin.disconnect();
}

function event(type: string): Event {
  const [id, subject, firmuuid] = [randomUUID(), randomUUID(), randomUUID()];
  return {
    id,
    source: 'test',
    type,
    time: new Date().toISOString(),
    subject,
    firmuuid,
    priority: 0,
    traceparent: newTraceparent(),
    data: {},
  };
}

describe('a Kafka user with the rights that docs/clusters.md lists', () => {
  it('can create topics, publish, consume, listen, give up, and list and replay dead letters', async () => {
    const config = { ...transport.config, kafka: kafkaAs('service') };
    await prepareBus(config, { publishes: [Good, Bad], consumes: [Good, Bad] }, { name: 'test', log });
    const bus = await openBus(config, { name: 'test', log });
    try {
      const [received, listened]: [string[], string[]] = [[], []];
      let isFixed = false;
      await bus.subscribe({
        consumer: 'test.consumer',
        routes: [
          route({ event: Good, handle: async (events) => void received.push(...events.map(({ id }) => id)) }),
          route({
            event: Bad,
            handle: async (events) => {
              if (!isFixed) throw new Poison('BAD', 'It is bad.');
              received.push(...events.map(({ id }) => id));
            },
          }),
        ],
      });
      await bus.listen(Good, ({ id }) => void listened.push(id));
      await waitUntil(() => bus.ready().then(() => true));
      const [good, bad] = [event(Good.type), event(Bad.type)];
      await transport.transaction((tx) => bus.publish(tx, [good, bad]));
      await waitUntil(() => received.includes(good.id) && listened.includes(good.id));
      const deadLetters = await openDeadLetters(config, { name: 'admin', log });
      try {
        await waitUntil(async () => (await deadLetters.list({}, 10)).length === 1);
        isFixed = true;
        await deadLetters.replay({ ids: [bad.id] });
        await waitUntil(() => received.includes(bad.id));
      } finally {
        await deadLetters.close();
      }
    } finally {
      await bus.close();
    }
    expect(warnings.filter((line) => /authoriz/i.test(line))).toEqual([]);
  }, 120_000);
});
