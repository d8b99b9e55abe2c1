import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeVariables } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { readConfig, variables } from './config.ts';

/** The least that a process of gateway needs. */
const env = {
  JWT_SECRET: 'telling'.repeat(8),
  KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092',
  KEY_MANAGEMENT_ADDRESS: 'key-management:50051',
  INGEST_ADDRESS: 'ingest:50051',
  AUDIO_ADDRESS: 'audio:50051',
  ANALYSIS_ADDRESS: 'analysis:50051',
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

describe('the environment of gateway', () => {
  it('is as little as this, and the rest is usual', () => {
    expect(readConfig(env)).toEqual({
      process: { logLevel: 'info', health: { host: '0.0.0.0', port: 9090 }, drainMs: 5_000, traces: undefined },
      config: {
        host: '0.0.0.0',
        port: 8080,
        publicUrl: undefined,
        quotas: { perFirm: 30_000, perAddress: 60_000 },
        trustedProxies: [],
        corsOrigins: [],
        jwt: { issuer: 'call-analysis', audience: 'call-analysis', key: { kind: 'secret', secret: env.JWT_SECRET } },
        bus: { transport: 'kafka', kafka },
        objects: { store: 's3' },
        keyManagement: 'key-management:50051',
        ingest: 'ingest:50051',
        audio: 'audio:50051',
        analysis: 'analysis:50051',
        tls: undefined,
      },
    });
    // A public key does in the place of the secret.
    const required = describeVariables(variables).filter((each) => each.required);
    expect(required.map(({ name }) => name)).toEqual(Object.keys(env).filter((name) => name !== 'JWT_SECRET'));
  });

  it.each<[Record<string, string>, string[]]>([
    [{ JWT_SECRET: '' }, ['JWT_SECRET or JWT_PUBLIC_KEY_FILE must be set.']],
    [{ JWT_SECRET: 'short' }, ['JWT_SECRET must have at least 32 bytes.']],
    [{ JWT_PUBLIC_KEY_FILE: '/key.pem' }, ['JWT_SECRET and JWT_PUBLIC_KEY_FILE are both set; set only one of them.']],
    [{ JWT_SECRET: '', JWT_PUBLIC_KEY_FILE: '/no/key.pem' }, ['JWT_PUBLIC_KEY_FILE names /no/key.pem, which cannot be read (ENOENT).']],
    [{ PORT: '99999' }, ['PORT must be a port from 0 to 65535, not "99999".']],
    [{ PUBLIC_URL: 'calls.example.org' }, ['PUBLIC_URL must be a URL, not "calls.example.org".']],
    [{ RATE_LIMIT_PER_FIRM: 'many' }, ['RATE_LIMIT_PER_FIRM must be a whole number of requests per minute']],
    [{ TRUST_PROXY: '10.0.0.0/33' }, ['TRUST_PROXY must be addresses or networks']],
    [{ CORS_ORIGINS: 'https://example.com/' }, ['CORS_ORIGINS must be origins']],
    [{ KAFKA_BROKERS: '' }, ['KAFKA_BROKERS must be set for a service in a process of its own; npm start runs all of them on one machine without.']],
    [{ KAFKA_BROKERS: 'kafka' }, ['KAFKA_BROKERS must be brokers with commas between them']],
    [{ KAFKA_SASL_USERNAME: 'us' }, ['KAFKA_SASL_USERNAME is set, so KAFKA_SASL_MECHANISM and KAFKA_SASL_PASSWORD must be set too.']],
    [{ KAFKA_TLS_CA_FILE: '/ca.pem' }, ['KAFKA_TLS_CA_FILE is set, so KAFKA_TLS must be on.']],
    [{ AUDIO_ADDRESS: 'audio' }, ['AUDIO_ADDRESS must be written like host:port, not "audio".']],
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
    const file = join(mkdtempSync(join(tmpdir(), 'gateway-')), 'secret');
    writeFileSync(file, `${env.JWT_SECRET}\n`);
    const { JWT_SECRET: _, ...rest } = env;
    expect(readConfig({ ...rest, JWT_SECRET_FILE: file })).toEqual(readConfig(env));
    expect(refusal({ ...env, JWT_SECRET_FILE: file })).toBe('JWT_SECRET and JWT_SECRET_FILE are both set; set only one of them.');
  });

  it('is told all that is wrong with it at once', () => {
    expect(refusal({ PORT: 'x', DRAIN: 'soon' }).split('\n')).toEqual([
      'PORT must be a port',
      'JWT_SECRET or JWT_PUBLIC_KEY_FILE must be set',
      'KAFKA_BROKERS must be set',
      'KEY_MANAGEMENT_ADDRESS must be set',
      'INGEST_ADDRESS must be set',
      'AUDIO_ADDRESS must be set',
      'ANALYSIS_ADDRESS must be set',
      'DRAIN must be a duration',
    ].map((start) => expect.stringMatching(new RegExp(`^${start}`))));
  });
});
