import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import type { Environment } from '../config/config.ts';
import { describeVariables } from '../config/describe-variables.ts';
import type { ServiceSettings } from '../process/service-process.ts';

/** Variables to set, and a part of each expected sentence. */
export type Refusal = [environment: Readonly<Record<string, string>>, sentences: readonly string[]];

/** How a service reads the environment of a process of its own. */
interface EnvironmentReader {
  readonly readConfig: (environment: Environment) => ServiceSettings<object>;
  readonly variables: readonly z.ZodObject[];
  /** The smallest valid environment, in the order of `variables`. Secret values contain `telling`. */
  readonly env: Readonly<Record<string, string>>;
  /** The resulting configuration. */
  readonly config: object;
  /** Variables of `env` that others can replace. */
  readonly replaceable?: readonly string[];
  /** The variable of `env` whose value may come from a file. */
  readonly secret: string;
  /** Changes to `env`, and a part of each expected sentence. */
  readonly refusals: readonly Refusal[];
  /** An environment with many faults, and the beginning of each sentence. */
  readonly wrong: Refusal;
}

/** Refusals of every service with its own tables. */
export const database = {
  refusals: [
    [{ DATABASE_URL: 'mysql://root:telling@db/x' }, ['DATABASE_URL must begin with postgresql://.']],
    [{ DATABASE_URL: '' }, ['DATABASE_URL must be set.']],
    ...['9', '1001', '12.5', '1e2', 'many'].map((text): Refusal => [
      { DATABASE_CONNECTIONS: text },
      ['DATABASE_CONNECTIONS must be a whole number from 10 to 1000'],
    ]),
  ] satisfies Refusal[],
};

/** The brokers that services share: the smallest environment, the resulting settings, the refusals. */
export const brokers = {
  env: { KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092' },
  settings: {
    brokers: ['kafka-1:9092', 'kafka-2:9092'],
    tls: undefined,
    sasl: undefined,
    topics: { create: true, partitions: 12, replication: -1, retentionMs: 30 * 86_400_000 },
    prefix: '',
  },
  refusals: [
    [
      { KAFKA_BROKERS: '' },
      [
        'KAFKA_BROKERS must be set for a service in a process of its own; npm start runs all of them on one machine without.',
      ],
    ],
    [{ KAFKA_BROKERS: 'kafka' }, ['KAFKA_BROKERS must be brokers separated by commas']],
    [
      { KAFKA_SASL_USERNAME: 'us' },
      ['KAFKA_SASL_USERNAME is set, so KAFKA_SASL_MECHANISM and KAFKA_SASL_PASSWORD must be set too.'],
    ],
    [{ KAFKA_TLS_CA_FILE: '/ca.pem' }, ['KAFKA_TLS_CA_FILE is set, so KAFKA_TLS must be on.']],
  ] satisfies Refusal[],
};

/** The same for the object store. */
export const store = {
  env: { S3_ENDPOINT: 'http://s3:7070', S3_BUCKET: 'calls', S3_ACCESS_KEY: 'access', S3_SECRET_KEY: 'telling' },
  settings: {
    store: 's3',
    endpoint: 'http://s3:7070',
    publicEndpoint: 'http://s3:7070',
    bucket: 'calls',
    accessKey: 'access',
    secretKey: 'telling',
    region: 'us-east-1',
    pathStyle: true,
    createBucket: true,
  },
  refusals: [
    [{ S3_SECRET_KEY: '' }, ['S3_ENDPOINT, S3_BUCKET and S3_ACCESS_KEY are set, so S3_SECRET_KEY must be set too.']],
    [
      { S3_ENDPOINT: '', S3_BUCKET: '', S3_ACCESS_KEY: '', S3_SECRET_KEY: '' },
      [
        'S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY must be set for a service in a process of its own; npm start runs',
      ],
    ],
  ] satisfies Refusal[],
};

/** Of a service that calls others. */
export const calling = {
  refusals: [
    [
      { RPC_TLS_CERT_FILE: '/cert.pem' },
      ['RPC_TLS_CERT_FILE is set, so RPC_TLS_CA_FILE and RPC_TLS_KEY_FILE must be set too.'],
    ],
    [
      { RPC_TLS_CA_FILE: '/no/ca.pem', RPC_TLS_CERT_FILE: '/no/cert.pem', RPC_TLS_KEY_FILE: '/no/key.pem' },
      ['RPC_TLS_CA_FILE names /no/ca.pem, which cannot be read (ENOENT).'],
    ],
  ] satisfies Refusal[],
};

/** Of a service that is called. */
export const serving = {
  settings: { listen: '127.0.0.1:50051', tls: undefined, reflection: false },
  refusals: [
    [{ RPC_PORT: '99999' }, ['RPC_PORT must be a port from 0 to 65535, not "99999".']],
    ...calling.refusals,
  ] satisfies Refusal[],
};

const everyProcess: readonly Refusal[] = [
  [{ HEALTH_PORT: 'x' }, ['HEALTH_PORT must be a port from 0 to 65535, not "x".']],
  [{ DRAIN: 'soon' }, ['DRAIN must be a duration like 500ms, 45s, 30m, 12h or 7d, not "soon".']],
  [{ CLOSE_TIMEOUT: '25h' }, ['CLOSE_TIMEOUT must be at most 24h, not "25h".']],
  [{ LOG_LEVEL: 'loud' }, ['LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud".']],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_EXPORTER_OTLP_HEADERS: 'telling' },
    ['OTEL_EXPORTER_OTLP_HEADERS must be written like'],
  ],
];

/** Tests what every service guarantees to the operator who configures a process of it. */
export function environmentContract(name: string, reader: EnvironmentReader): void {
  const { readConfig, variables, env, config, replaceable = [], secret, refusals } = reader;

  function refusal(environment: Environment): string {
    try {
      readConfig(environment);
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  }

  describe(`the environment of ${name}`, () => {
    it('needs only these variables, and has defaults for the others', () => {
      expect(readConfig(env)).toEqual({
        process: {
          logLevel: 'info',
          health: { host: '0.0.0.0', port: 9090 },
          drainMs: 5_000,
          closeMs: 10_000,
          traces: undefined,
        },
        config,
      });
      const required = describeVariables(variables).filter((each) => each.required);
      expect(required.map((each) => each.name)).toEqual(Object.keys(env).filter((each) => !replaceable.includes(each)));
    });

    const all = [...refusals, ...everyProcess];
    it.each<Refusal>(all)('is refused in a sentence that names the variable: %j', (variation, sentences) => {
      const message = refusal({ ...env, ...variation });
      for (const sentence of sentences) expect(message).toContain(sentence);
      expect(message).not.toContain('telling');
      expect(message.split('\n')).toHaveLength(sentences.length);
    });

    it('may have its secrets in files', () => {
      const file = join(mkdtempSync(join(tmpdir(), `${name}-`)), 'secret');
      const inFile = { [`${secret}_FILE`]: file };
      const { [secret]: value, ...rest } = env;
      writeFileSync(file, `${value}\n`);
      expect(readConfig({ ...rest, ...inFile })).toEqual(readConfig(env));
      expect(refusal({ ...env, ...inFile })).toBe(`${secret} and ${secret}_FILE are both set; set only one of them.`);
    });

    it('is refused with all of its faults together', () => {
      const [environment, starts] = reader.wrong;
      const sentences = starts.map((start) => expect.stringMatching(new RegExp(`^${start}`)));
      expect(refusal(environment).split('\n')).toEqual(sentences);
    });
  });
}
