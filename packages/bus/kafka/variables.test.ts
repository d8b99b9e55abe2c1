import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigFault, describeVariables, parseConfig } from '@call-analysis/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kafkaFrom, KafkaVariables, requiredKafka, RequiredKafkaVariables } from './variables.ts';

const directory = mkdtempSync(join(tmpdir(), 'kafka-variables-'));
const ca = join(directory, 'ca.pem');
const cert = join(directory, 'cert.pem');
const key = join(directory, 'key.pem');
const notPem = join(directory, 'notes.txt');

beforeAll(() => {
  writeFileSync(ca, '-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----\n');
  writeFileSync(cert, '-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----\n');
  writeFileSync(key, '-----BEGIN PRIVATE KEY-----\nkey\n-----END PRIVATE KEY-----\n');
  writeFileSync(notPem, 'no PEM\n');
});
afterAll(() => rmSync(directory, { recursive: true }));

function read(env: Record<string, string>) {
  return kafkaFrom(parseConfig(KafkaVariables, env));
}

function faultsOf(env: Record<string, string>): string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigFault) return error.message.split('\n');
    throw error;
  }
  throw new Error('No fault was found.');
}

describe('the Kafka variables', () => {
  it('configure no Kafka when none is set', () => {
    expect(read({})).toBeUndefined();
  });

  it('require only the brokers', () => {
    expect(read({ KAFKA_BROKERS: 'one:9092, two.example:9093' })).toEqual({
      brokers: ['one:9092', 'two.example:9093'],
      tls: undefined,
      sasl: undefined,
      topics: { create: true, partitions: 12, replication: -1, retentionMs: 30 * 86_400_000 },
      prefix: '',
    });
  });

  it('configure the complete connection', () => {
    expect(
      read({
        KAFKA_BROKERS: 'one:9093',
        KAFKA_TLS: 'on',
        KAFKA_TLS_CA_FILE: ca,
        KAFKA_TLS_CERT_FILE: cert,
        KAFKA_TLS_KEY_FILE: key,
        KAFKA_SASL_MECHANISM: 'scram-sha-512',
        KAFKA_SASL_USERNAME: 'ingest',
        KAFKA_SASL_PASSWORD: 'secret',
        KAFKA_CREATE_TOPICS: 'off',
        KAFKA_TOPIC_PARTITIONS: '48',
        KAFKA_TOPIC_REPLICATION: '3',
        KAFKA_TOPIC_RETENTION: '7d',
        KAFKA_TOPIC_PREFIX: 'staging.',
      }),
    ).toEqual({
      brokers: ['one:9093'],
      tls: {
        ca: expect.stringContaining('\nca\n'),
        cert: expect.stringContaining('\nours\n'),
        key: expect.stringContaining('\nkey\n'),
      },
      sasl: { mechanism: 'scram-sha-512', username: 'ingest', password: 'secret' },
      topics: { create: false, partitions: 48, replication: 3, retentionMs: 7 * 86_400_000 },
      prefix: 'staging.',
    });
  });

  it('allow TLS without a file, with the authorities that Node knows', () => {
    expect(read({ KAFKA_BROKERS: 'one:9093', KAFKA_TLS: 'on' })?.tls).toEqual({});
  });

  it('are all reported when they have invalid values, without the password', () => {
    expect(
      faultsOf({
        KAFKA_BROKERS: 'one',
        KAFKA_TLS: 'yes',
        KAFKA_SASL_MECHANISM: 'gssapi',
        KAFKA_TOPIC_PARTITIONS: '0',
        KAFKA_TOPIC_REPLICATION: 'many',
        KAFKA_TOPIC_RETENTION: '0s',
        KAFKA_TOPIC_PREFIX: 'a/b',
      }),
    ).toEqual([
      'KAFKA_BROKERS must be brokers separated by commas, such as kafka-1:9092,kafka-2:9092, not "one".',
      'KAFKA_TLS must be one of on, off, not "yes".',
      'KAFKA_SASL_MECHANISM must be one of plain, scram-sha-256, scram-sha-512, not "gssapi".',
      'KAFKA_TOPIC_PARTITIONS must be a whole number from 1 to 9999, not "0".',
      'KAFKA_TOPIC_REPLICATION must be a whole number from 1 to 9999, not "many".',
      'KAFKA_TOPIC_RETENTION must be longer than zero, not "0s".',
      'KAFKA_TOPIC_PREFIX must be at most 200 letters, digits, dots, hyphens and underscores, not "a/b".',
    ]);
  });

  it('that belong together are refused when some are missing, with one sentence for each', () => {
    expect(
      faultsOf({
        KAFKA_BROKERS: 'one:9093',
        KAFKA_TLS: 'on',
        KAFKA_TLS_CERT_FILE: cert,
        KAFKA_SASL_USERNAME: 'ingest',
      }),
    ).toEqual([
      'KAFKA_TLS_CERT_FILE is set, so KAFKA_TLS_KEY_FILE must be set too.',
      'KAFKA_SASL_USERNAME is set, so KAFKA_SASL_MECHANISM and KAFKA_SASL_PASSWORD must be set too.',
    ]);
    expect(faultsOf({ KAFKA_BROKERS: 'one:9093', KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_KEY_FILE: key })).toEqual([
      'KAFKA_TLS_CA_FILE is set, so KAFKA_TLS must be on.',
      'KAFKA_TLS_KEY_FILE is set, so KAFKA_TLS must be on.',
    ]);
  });

  it('that only make sense with brokers are refused without them', () => {
    expect(
      faultsOf({
        KAFKA_TLS: 'on',
        KAFKA_SASL_PASSWORD: 'secret',
        KAFKA_SASL_USERNAME: 'ingest',
        KAFKA_SASL_MECHANISM: 'plain',
      }),
    ).toEqual([
      'KAFKA_TLS is set, so KAFKA_BROKERS must be set too.',
      'KAFKA_SASL_MECHANISM is set, so KAFKA_BROKERS must be set too.',
      'KAFKA_SASL_USERNAME is set, so KAFKA_BROKERS must be set too.',
      'KAFKA_SASL_PASSWORD is set, so KAFKA_BROKERS must be set too.',
    ]);
  });

  it('require brokers, and nothing else, for a service in its own process', () => {
    expect(requiredKafka({ KAFKA_BROKERS: 'one:9092' })).toEqual(read({ KAFKA_BROKERS: 'one:9092' }));
    expect(() => requiredKafka({})).toThrow('KAFKA_BROKERS must be set for a service in a process of its own');
    const required = describeVariables([RequiredKafkaVariables]).filter((each) => each.required);
    expect(required.map(({ name }) => name)).toEqual(['KAFKA_BROKERS']);
  });

  it('that name unusable files are refused with the reason', () => {
    expect(
      faultsOf({ KAFKA_BROKERS: 'one:9093', KAFKA_TLS: 'on', KAFKA_TLS_CA_FILE: join(directory, 'absent.pem') }),
    ).toEqual([`KAFKA_TLS_CA_FILE names ${join(directory, 'absent.pem')}, which cannot be read (ENOENT).`]);
    expect(
      faultsOf({ KAFKA_BROKERS: 'one:9093', KAFKA_TLS: 'on', KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: notPem }),
    ).toEqual([`KAFKA_TLS_KEY_FILE names ${notPem}, which holds no private key in PEM.`]);
  });

  it('all have a description', () => {
    for (const [name, variable] of Object.entries(KafkaVariables.shape)) {
      expect([name, variable.meta()?.description]).toEqual([name, expect.stringMatching(/\.$/)]);
    }
  });
});
