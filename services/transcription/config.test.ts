import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeVariables } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { readConfig, variables } from './config.ts';

/** The least that a process of transcription needs. */
const env = {
  DATABASE_URL: 'postgresql://transcription:telling@db/transcription',
  KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092',
  S3_ENDPOINT: 'http://s3:7070',
  S3_BUCKET: 'calls',
  S3_ACCESS_KEY: 'access',
  S3_SECRET_KEY: 'telling',
};

const kafka = {
  brokers: ['kafka-1:9092', 'kafka-2:9092'],
  tls: undefined,
  sasl: undefined,
  topics: { create: true, partitions: 12, replication: -1, retentionMs: 30 * 86_400_000 },
  prefix: '',
};
const objects = {
  store: 's3',
  endpoint: 'http://s3:7070',
  publicEndpoint: 'http://s3:7070',
  bucket: 'calls',
  accessKey: 'access',
  secretKey: 'telling',
  region: 'us-east-1',
  pathStyle: true,
  createBucket: true,
};

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the environment of transcription', () => {
  it('is as little as this, and the rest is usual', () => {
    expect(readConfig(env)).toEqual({
      process: { logLevel: 'info', health: { host: '0.0.0.0', port: 9090 }, drainMs: 5_000, traces: undefined },
      config: {
        databaseUrl: env.DATABASE_URL,
        bus: { transport: 'kafka', url: env.DATABASE_URL, schema: 'transcription_bus', kafka, overflow: objects },
        objects,
        workDirectory: join(tmpdir(), 'call-analysis-hearing'),
        engine: { kind: 'local', modelDirectory: undefined, ears: undefined },
      },
    });
    const required = describeVariables(variables).filter((each) => each.required);
    expect(required.map(({ name }) => name)).toEqual(Object.keys(env));
  });

  it.each<[Record<string, string>, string[]]>([
    [{ DATABASE_URL: 'mysql://root:telling@db/x' }, ['DATABASE_URL must begin with postgresql://.']],
    [{ DATABASE_URL: '' }, ['DATABASE_URL must be set.']],
    [{ KAFKA_BROKERS: '' }, ['KAFKA_BROKERS must be set for a service in a process of its own; npm start runs all of them on one machine without.']],
    [{ KAFKA_BROKERS: 'kafka' }, ['KAFKA_BROKERS must be brokers with commas between them']],
    [{ KAFKA_SASL_USERNAME: 'us' }, ['KAFKA_SASL_USERNAME is set, so KAFKA_SASL_MECHANISM and KAFKA_SASL_PASSWORD must be set too.']],
    [{ KAFKA_TLS_CA_FILE: '/ca.pem' }, ['KAFKA_TLS_CA_FILE is set, so KAFKA_TLS must be on.']],
    [{ S3_SECRET_KEY: '' }, ['S3_ENDPOINT, S3_BUCKET and S3_ACCESS_KEY are set, so S3_SECRET_KEY must be set too.']],
    [
      { S3_ENDPOINT: '', S3_BUCKET: '', S3_ACCESS_KEY: '', S3_SECRET_KEY: '' },
      ['S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY must be set for a service in a process of its own; npm start runs'],
    ],
    [{ SPEECH_URL: 'http://ear:9000' }, ['SPEECH_URL is set, so SPEECH_MODEL must be set too.']],
    [{ SPEECH_EARS: 'all' }, ['SPEECH_EARS must be a number from 1 to 99, not "all".']],
    [
      { SPEECH_URL: 'http://ear:9000', SPEECH_MODEL: 'm', SPEECH_EARS: '2', SPEECH_MODEL_DIR: '/models' },
      [
        'SPEECH_MODEL_DIR is for the local engine, but SPEECH_URL chooses another one; set only one of them.',
        'SPEECH_EARS is for the local engine, but SPEECH_URL chooses another one; set only one of them.',
      ],
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
    const file = join(mkdtempSync(join(tmpdir(), 'transcription-')), 'secret');
    writeFileSync(file, `${env.DATABASE_URL}\n`);
    const { DATABASE_URL: _, ...rest } = env;
    expect(readConfig({ ...rest, DATABASE_URL_FILE: file })).toEqual(readConfig(env));
    expect(refusal({ ...env, DATABASE_URL_FILE: file })).toBe('DATABASE_URL and DATABASE_URL_FILE are both set; set only one of them.');
  });

  it('is told all that is wrong with it at once', () => {
    expect(refusal({ S3_ENDPOINT: 'http://s3:7070', SPEECH_MODEL: 'm', DRAIN: 'soon' }).split('\n')).toEqual([
      'SPEECH_MODEL is set, so',
      'DATABASE_URL must be set',
      'KAFKA_BROKERS must be set',
      'S3_ENDPOINT is set, so',
      'DRAIN must be a duration',
    ].map((start) => expect.stringMatching(new RegExp(`^${start}`))));
  });
});
