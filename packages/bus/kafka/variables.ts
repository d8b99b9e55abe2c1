import {
  ConfigFault,
  duration,
  type Environment,
  group,
  parseConfig,
  readAll,
  readNamedFile,
  requiring,
  shared,
} from '@call-analysis/runtime';
import { z } from 'zod';
import type { Kafka } from './config.ts';

const BROKERS = ['KAFKA_BROKERS'] as const;
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** What the environment says of Kafka. Without KAFKA_BROKERS there is none. */
export const KafkaVariables = z.object({
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .refine(
      (list) => list.every(isBroker),
      'must be brokers with commas between them, such as kafka-1:9092,kafka-2:9092',
    )
    .optional()
    .meta({ description: 'The brokers that facts travel by: `host:port`, with commas between them.' }),
  KAFKA_TLS: onOff('off').meta({ description: 'Whether connections to the brokers are encrypted: `on` or `off`.' }),
  KAFKA_TLS_CA_FILE: z.string().optional().meta({
    description:
      'A PEM file of the authorities that vouch for the brokers. Without it, those that Node knows. Read at start.',
  }),
  KAFKA_TLS_CERT_FILE: z.string().optional().meta({
    description: 'A PEM file of the certificate by which the brokers know us, with KAFKA_TLS_KEY_FILE. Read at start.',
  }),
  KAFKA_TLS_KEY_FILE: z
    .string()
    .optional()
    .meta({ description: 'A PEM file of the key to KAFKA_TLS_CERT_FILE. Read at start.' }),
  KAFKA_SASL_MECHANISM: z.enum(MECHANISMS).optional().meta({
    description: 'How we log in: `plain` (over TLS only, or the password is seen), `scram-sha-256` or `scram-sha-512`.',
  }),
  KAFKA_SASL_USERNAME: z.string().optional().meta({ description: 'The user that we log in as.' }),
  KAFKA_SASL_PASSWORD: z.string().optional().meta({ description: 'The password of KAFKA_SASL_USERNAME.' }),
  KAFKA_CREATE_TOPICS: onOff('on').meta({
    description: 'Whether topics that are missing are made: `on`, or `off` to refuse to start without them.',
  }),
  KAFKA_TOPIC_PARTITIONS: count('12').meta({
    description: 'Partitions of topics that are made: no more replicas than this read a topic at the same time.',
  }),
  KAFKA_TOPIC_REPLICATION: count()
    .optional()
    .meta({ description: 'Copies of topics that are made.', defaultText: "the brokers' own" }),
  KAFKA_TOPIC_RETENTION: duration()
    .refine((ms) => ms > 0, 'must be longer than nothing')
    .prefault('30d')
    .meta({
      description:
        'How long facts and dead letters stay in topics that are made. No less than what topics that stand already keep: by it goes what belongs to facts that can come no more.',
    }),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/, 'must be at most 200 letters, digits, dots, hyphens and underscores')
    .optional()
    .meta({
      description: 'Stands before the names of topics and consumer groups, so that several systems can share brokers.',
    }),
});
export type KafkaVariables = z.infer<typeof KafkaVariables>;

/** The same for a service in a process of its own, which shares its brokers with the others. */
export const RequiredKafkaVariables = requiring(KafkaVariables, BROKERS);

/** Undefined without brokers. ConfigFault has one sentence for each thing that does not go together. */
export function kafkaFrom(variables: KafkaVariables): Kafka | undefined {
  const { brokers, tls, sasl } = readAll({
    brokers: () => brokersFrom(variables),
    tls: () => tlsFrom(variables),
    sasl: () => saslFrom(variables),
  });
  if (brokers === undefined) return undefined;
  return {
    brokers,
    tls,
    sasl,
    topics: {
      create: variables.KAFKA_CREATE_TOPICS === 'on',
      partitions: variables.KAFKA_TOPIC_PARTITIONS,
      replication: variables.KAFKA_TOPIC_REPLICATION ?? -1,
      retentionMs: variables.KAFKA_TOPIC_RETENTION,
    },
    prefix: variables.KAFKA_TOPIC_PREFIX ?? '',
  };
}

/** As `kafkaFrom`; ConfigFault also when there are no brokers. */
export function requiredKafka(env: Environment): Kafka {
  return shared(BROKERS, kafkaFrom(parseConfig(KafkaVariables, env)));
}

/** Some variables are set by nobody who does not mean to use Kafka. */
function brokersFrom({ KAFKA_BROKERS: brokers, ...variables }: KafkaVariables): Kafka['brokers'] | undefined {
  if (brokers !== undefined) return brokers;
  const { KAFKA_TLS, KAFKA_TLS_CA_FILE, KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD } = variables;
  const telling = {
    KAFKA_TLS: KAFKA_TLS === 'on' ? KAFKA_TLS : undefined,
    KAFKA_TLS_CA_FILE,
    KAFKA_SASL_MECHANISM,
    KAFKA_SASL_USERNAME,
    KAFKA_SASL_PASSWORD,
  };
  const names = Object.entries(telling).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length === 0) return undefined;
  throw new ConfigFault(names.map((name) => `${name} is set, so KAFKA_BROKERS must be set too.`).join('\n'));
}

function tlsFrom(variables: KafkaVariables): Kafka['tls'] {
  const { KAFKA_TLS, KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE } = variables;
  const files = { KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE };
  if (KAFKA_TLS === 'off') {
    const named = Object.entries(files).flatMap(([name, file]) => (file === undefined ? [] : [name]));
    if (named.length > 0)
      throw new ConfigFault(named.map((name) => `${name} is set, so KAFKA_TLS must be on.`).join('\n'));
    return undefined;
  }
  group(files, ['KAFKA_TLS_CERT_FILE', 'KAFKA_TLS_KEY_FILE']);
  const { ca, cert, key } = readAll({
    ca: () => pemFrom('KAFKA_TLS_CA_FILE', KAFKA_TLS_CA_FILE, 'CERTIFICATE'),
    cert: () => pemFrom('KAFKA_TLS_CERT_FILE', KAFKA_TLS_CERT_FILE, 'CERTIFICATE'),
    key: () => pemFrom('KAFKA_TLS_KEY_FILE', KAFKA_TLS_KEY_FILE, 'PRIVATE KEY'),
  });
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

function pemFrom(name: string, file: string | undefined, kind: string): string | undefined {
  if (file === undefined) return undefined;
  const text = readNamedFile(name, file);
  if (!new RegExp(`-----BEGIN [A-Z ]*${kind}-----`).test(text)) {
    throw new ConfigFault(`${name} names ${file}, which holds no ${kind.toLowerCase()} in PEM.`);
  }
  return text;
}

function saslFrom(variables: KafkaVariables): Kafka['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = variables;
  group({ KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password }, [
    'KAFKA_SASL_MECHANISM',
    'KAFKA_SASL_USERNAME',
    'KAFKA_SASL_PASSWORD',
  ]);
  if (mechanism === undefined || username === undefined || password === undefined) return undefined;
  return { mechanism, username, password };
}

function onOff(otherwise: 'on' | 'off') {
  return z.enum(['on', 'off']).default(otherwise);
}

function count(): z.ZodType<number>;
function count(otherwise: string): z.ZodType<number, string | undefined>;
function count(otherwise?: string) {
  const whole = z
    .string()
    .regex(/^[1-9]\d{0,3}$/, 'must be a whole number from 1 to 9999')
    .transform(Number);
  return otherwise === undefined ? whole : whole.prefault(otherwise);
}

function isBroker(text: string): boolean {
  const [, port] = /^[A-Za-z0-9._-]+:(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) <= 65_535;
}
