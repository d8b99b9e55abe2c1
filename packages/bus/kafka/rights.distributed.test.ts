import { randomUUID } from 'node:crypto';
import { type Event, eventType } from '@call-analysis/events';
import { newTraceparent } from '@call-analysis/runtime';
import { type KafkaServer, startKafka, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import kafkajs, { type AclEntry } from 'kafkajs';
import { z } from 'zod';
import { openDeadLetters } from '../open-dead-letters.ts';
import { openBus } from '../open.ts';
import { Poison, route } from '../port.ts';
import { prepareBus } from '../prepare.ts';
import { connect } from './connection/client.ts';
import type { Kafka } from './config.ts';
import { type KafkaPlaceUnderTest, openKafkaPlace } from '../test/kafka.ts';

const Told = eventType('test.told.v1', z.unknown());
const Bad = eventType('test.bad.v1', z.unknown());
const complaints: string[] = [];
const note = (_: object, message?: string) => void complaints.push(message ?? '');
const log = { info() {}, warn: note, error: note };
const silent = { info() {}, warn() {}, error() {} };

let server: KafkaServer;
let place: KafkaPlaceUnderTest;

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
  place = await openKafkaPlace(kafkaAs('operator'));
}, 300_000);
afterAll(async () => {
  await place?.close();
  await server?.stop();
});

/** What docs/clusters.md asks for, and nothing beside. */
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

describe('a user of Kafka with the rights of docs/clusters.md', () => {
  it('makes topics, tells, hears, gives up, and lists and replays what was given up', async () => {
    const config = { ...place.config, kafka: kafkaAs('service') };
    await prepareBus(config, { publishes: [Told, Bad], consumes: [Told, Bad] }, { name: 'test', log });
    const bus = await openBus(config, { name: 'test', log });
    try {
      const [heard, listened]: [string[], string[]] = [[], []];
      let isMended = false;
      await bus.subscribe({
        consumer: 'test.hears',
        routes: [
          route({ event: Told, handle: async (events) => void heard.push(...events.map(({ id }) => id)) }),
          route({
            event: Bad,
            handle: async (events) => {
              if (!isMended) throw new Poison('BAD', 'It is bad.');
              heard.push(...events.map(({ id }) => id));
            },
          }),
        ],
      });
      await bus.listen(Told, ({ id }) => void listened.push(id));
      await waitUntil(() => bus.ready().then(() => true));
      const [told, bad] = [event(Told.type), event(Bad.type)];
      await place.transaction((tx) => bus.publish(tx, [told, bad]));
      await waitUntil(() => heard.includes(told.id) && listened.includes(told.id));
      const office = await openDeadLetters(config, { name: 'admin', log });
      try {
        await waitUntil(async () => (await office.list({}, 10)).length === 1);
        isMended = true;
        await office.replay({ ids: [bad.id] });
        await waitUntil(() => heard.includes(bad.id));
      } finally {
        await office.close();
      }
    } finally {
      await bus.close();
    }
    expect(complaints.filter((line) => /authoriz/i.test(line))).toEqual([]);
  }, 120_000);
});
