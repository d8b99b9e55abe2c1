import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig, StartFault } from '@call-analysis/runtime';
import { type KafkaServer, startKafka } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAuthority } from '../../../rpc/test/certificates.ts';
import { topicOf } from '../topics/topic.ts';
import { ensureTopics } from '../topics/topics.ts';
import { kafkaFrom, KafkaVariables } from '../variables.ts';
import { connect } from './client.ts';
import { explain } from './explain.ts';

const username = 'service';
const password = 'pass=word, with "everything" in it';
const authority = newAuthority('Test authority');
const otherAuthority = newAuthority('Another authority');
const certificate = authority.issue(['service']);
const untrusted = otherAuthority.issue(['service']);
const directory = mkdtempSync(join(tmpdir(), 'kafka-security-'));
const lines: string[] = [];
const log = {
  info() {},
  warn: (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`),
  error: (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`),
};
let server: KafkaServer;

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  const broker = authority.issue(['127.0.0.1', 'localhost']);
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule';
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule';
  const quoted = (text: string) => `"${text.replaceAll('"', String.raw`\"`)}"`;
  server = await startKafka({
    protocol: 'SASL_SSL',
    properties: {
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.key': broker.key,
      'ssl.keystore.certificate.chain': broker.cert,
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.certificates': authority.ca,
      'listener.name.clients.ssl.client.auth': 'required',
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256',
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': `User:ANONYMOUS;User:${username}`,
      'listener.name.clients.plain.sasl.jaas.config': `${plain} required user_${username}=${quoted(password)} user_guest="guest";`,
      'listener.name.clients.scram-sha-256.sasl.jaas.config': `${scram} required;`,
    },
    scram: [{ mechanism: 'SCRAM-SHA-256', username, password: 'scrambled' }],
  });
}, 300_000);
afterAll(async () => {
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function variables(changed: Record<string, string> = {}): Record<string, string> {
  return {
    KAFKA_BROKERS: server.brokers.join(','),
    KAFKA_TLS: 'on',
    KAFKA_TLS_CA_FILE: file('ca.pem', authority.ca),
    KAFKA_TLS_CERT_FILE: file('cert.pem', certificate.cert),
    KAFKA_TLS_KEY_FILE: file('key.pem', certificate.key),
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: username,
    KAFKA_SASL_PASSWORD: password,
    KAFKA_TOPIC_PARTITIONS: '1',
    ...changed,
  };
}

/** Creates a topic, sends a message to it and returns the number of messages in it. */
async function use(env: Record<string, string>): Promise<number> {
  const kafka = kafkaFrom(parseConfig(KafkaVariables, env))!;
  const client = connect(kafka, { name: 'test', log });
  const [admin, producer] = [client.admin({ retry: { retries: 1 } }), client.producer()];
  try {
    await admin.connect();
    const topic = topicOf(kafka, `test.secret-${env['KAFKA_SASL_MECHANISM']}.v1`);
    await ensureTopics(admin, [topic], kafka, log);
    await producer.connect();
    await producer.send({ topic, messages: [{ value: 'one' }] });
    return (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0);
  } catch (error) {
    throw explain(error, kafka);
  } finally {
    await Promise.allSettled([admin.disconnect(), producer.disconnect()]);
  }
}

async function sentence(env: Record<string, string>): Promise<string> {
  const error = await use(env).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StartFault);
  const { message } = error as StartFault;
  expect(message).not.toMatch(/\n|pass=word|scrambled|guessed/);
  return message;
}

describe('Kafka with TLS and a login', () => {
  it('can be used with a certificate and a password, by PLAIN and by SCRAM', async () => {
    expect(await use(variables())).toBe(1);
    expect(await use(variables({ KAFKA_SASL_MECHANISM: 'scram-sha-256', KAFKA_SASL_PASSWORD: 'scrambled' }))).toBe(1);
  });

  it('reports a refused password in one sentence', async () => {
    const brokers = server.brokers.join(',');
    expect(await sentence(variables({ KAFKA_SASL_PASSWORD: 'guessed' }))).toBe(
      `Kafka at ${brokers} refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD (plain).`,
    );
    expect(await sentence(variables({ KAFKA_SASL_MECHANISM: 'scram-sha-256', KAFKA_SASL_PASSWORD: 'guessed' }))).toBe(
      `Kafka at ${brokers} refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD (scram-sha-256).`,
    );
    expect(await sentence(variables({ KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_PASSWORD: 'guessed' }))).toBe(
      `Kafka at ${brokers} does not offer scram-sha-512 as KAFKA_SASL_MECHANISM.`,
    );
  });

  it('reports brokers with a certificate from an unknown authority in one sentence', async () => {
    expect(await sentence(variables({ KAFKA_TLS_CA_FILE: file('other-ca.pem', otherAuthority.ca) }))).toMatch(
      /shows a certificate that is not signed by an authority in KAFKA_TLS_CA_FILE\.$/,
    );
    const { KAFKA_TLS_CA_FILE: _, ...without } = variables();
    expect(await sentence(without)).toMatch(/is signed by no authority that Node knows; set KAFKA_TLS_CA_FILE\.$/);
  });

  it('reports a refused or missing client certificate in one sentence', async () => {
    const { KAFKA_TLS_CERT_FILE: _cert, KAFKA_TLS_KEY_FILE: _key, ...without } = variables();
    for (const env of [
      without,
      variables({
        KAFKA_TLS_CERT_FILE: file('their-cert.pem', untrusted.cert),
        KAFKA_TLS_KEY_FILE: file('their-key.pem', untrusted.key),
      }),
    ]) {
      expect(await sentence(env)).toMatch(
        /refuses this service's certificate; KAFKA_TLS_CERT_FILE must be one that it trusts\.$/,
      );
    }
  });

  it('without the right to create topics names the missing ones and the command to create them', async () => {
    const env = variables({
      KAFKA_SASL_USERNAME: 'guest',
      KAFKA_SASL_PASSWORD: 'guest',
      KAFKA_TOPIC_PREFIX: 'guest.',
      KAFKA_TOPIC_RETENTION: '1d',
    });
    expect(await sentence(env)).toBe(
      `Kafka at ${server.brokers.join(',')} lacks the topics guest.test.secret-plain.v1, and this service may not create them (TOPIC_AUTHORIZATION_FAILED). ` +
        `Create each of them: kafka-topics.sh --bootstrap-server ${server.brokers[0]} --create --topic NAME --partitions 1 ` +
        '--config retention.ms=86400000 --config max.message.bytes=1048588 --config compression.type=zstd',
    );
  });

  it('no password and no key is ever logged', () => {
    expect(lines.join('\n')).not.toMatch(/pass=word|scrambled|guessed|PRIVATE KEY/);
    expect(lines.length).toBeGreaterThan(0);
  });
});
