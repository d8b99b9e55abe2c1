import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeVariables } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { readConfig, variables } from './config.ts';

/** The least that a process of key-management needs. */
const env = {
  API_KEY_PEPPER: 'telling'.repeat(8),
  DATABASE_URL: 'postgresql://keys:telling@db/keys',
  KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092',
};

const kafka = {
  brokers: ['kafka-1:9092', 'kafka-2:9092'],
  tls: undefined,
  sasl: undefined,
  topics: { create: true, partitions: 12, replication: -1, retentionMs: 30 * 86_400_000 },
  prefix: '',
};

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the environment of key-management', () => {
  it('is as little as this, and the rest is usual', () => {
    expect(readConfig(env)).toEqual({
      process: { logLevel: 'info', health: { host: '0.0.0.0', port: 9090 }, drainMs: 5_000, traces: undefined },
      config: {
        databaseUrl: env.DATABASE_URL,
        bus: { transport: 'kafka', url: env.DATABASE_URL, schema: 'key_management_bus', kafka },
        listen: '0.0.0.0:50051',
        tls: undefined,
        reflection: false,
        pepper: env.API_KEY_PEPPER,
      },
    });
    const required = describeVariables(variables).filter((each) => each.required);
    expect(required.map(({ name }) => name)).toEqual(Object.keys(env));
  });

  it.each<[Record<string, string>, string[]]>([
    [{ API_KEY_PEPPER: 'short' }, ['API_KEY_PEPPER must have at least 32 bytes.']],
    [{ DATABASE_URL: 'mysql://root:telling@db/x' }, ['DATABASE_URL must begin with postgresql://.']],
    [{ DATABASE_URL: '' }, ['DATABASE_URL must be set.']],
    [{ KAFKA_BROKERS: '' }, ['KAFKA_BROKERS must be set for a service in a process of its own; npm start runs all of them on one machine without.']],
    [{ KAFKA_BROKERS: 'kafka' }, ['KAFKA_BROKERS must be brokers with commas between them']],
    [{ KAFKA_SASL_USERNAME: 'us' }, ['KAFKA_SASL_USERNAME is set, so KAFKA_SASL_MECHANISM and KAFKA_SASL_PASSWORD must be set too.']],
    [{ KAFKA_TLS_CA_FILE: '/ca.pem' }, ['KAFKA_TLS_CA_FILE is set, so KAFKA_TLS must be on.']],
    [{ RPC_PORT: '99999' }, ['RPC_PORT must be a port from 0 to 65535, not "99999".']],
    [{ RPC_TLS_CERT_FILE: '/cert.pem' }, ['RPC_TLS_CERT_FILE is set, so RPC_TLS_CA_FILE and RPC_TLS_KEY_FILE must be set too.']],
    [
      { RPC_TLS_CA_FILE: '/no/ca.pem', RPC_TLS_CERT_FILE: '/no/cert.pem', RPC_TLS_KEY_FILE: '/no/key.pem' },
      ['RPC_TLS_CA_FILE names /no/ca.pem, which cannot be read (ENOENT).'],
    ],
    [{ HEALTH_PORT: 'x' }, ['HEALTH_PORT must be a port from 0 to 65535, not "x".']],
    [{ DRAIN: 'soon' }, ['DRAIN must be a duration like 500ms, 45s, 30m, 12h or 7d, not "soon".']],
    [{ LOG_LEVEL: 'loud' }, ['LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud".']],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_EXPORTER_OTLP_HEADERS: 'telling' }, ['OTEL_EXPORTER_OTLP_HEADERS must be written like']],
  ])('is refused in a sentence that names the variable: %j', (variation, sentences) => {
    const message = refusal({ ...env, ...variation });
    for (const sentence of sentences) expect(message).toContain(sentence);
    expect(message).not.toContain('telling');
    expect(message.split('\n')).toHaveLength(sentences.length);
  });

  it('may have its secrets in files', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'key-management-')), 'secret');
    writeFileSync(file, `${env.API_KEY_PEPPER}\n`);
    const { API_KEY_PEPPER: _, ...rest } = env;
    expect(readConfig({ ...rest, API_KEY_PEPPER_FILE: file })).toEqual(readConfig(env));
    expect(refusal({ ...env, API_KEY_PEPPER_FILE: file })).toBe('API_KEY_PEPPER and API_KEY_PEPPER_FILE are both set; set only one of them.');
  });

  it('is told all that is wrong with it at once', () => {
    expect(refusal({ RPC_PORT: 'x', DRAIN: 'soon' }).split('\n')).toEqual([
      'API_KEY_PEPPER must be set',
      'DATABASE_URL must be set',
      'KAFKA_BROKERS must be set',
      'RPC_PORT must be a port',
      'DRAIN must be a duration',
    ].map((start) => expect.stringMatching(new RegExp(`^${start}`))));
  });
});
