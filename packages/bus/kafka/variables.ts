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
import type { Kafka } from '../config.ts';

const BROKERS = ['KAFKA_BROKERS'] as const;

/** The environment variables of the Kafka transport. Without KAFKA_BROKERS it is not used. */
export const KafkaVariables = z.object({
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .refine((list) => list.every(isBroker), 'must be brokers separated by commas, such as kafka-1:9092,kafka-2:9092')
    .optional()
    .meta({ description: 'The Kafka brokers: `host:port`, separated by commas.' }),
  KAFKA_TLS: onOff('off').meta({ description: 'Whether connections to the brokers are encrypted: `on` or `off`.' }),
  KAFKA_TLS_CA_FILE: z.string().optional().meta({
    description:
      'A PEM file with the certificate authorities of the brokers. Default: those that Node knows. Read at start.',
  }),
  KAFKA_TLS_CERT_FILE: z.string().optional().meta({
    description:
      'A PEM file with the certificate that authenticates this service to the brokers, with KAFKA_TLS_KEY_FILE. Read at start.',
  }),
  KAFKA_TLS_KEY_FILE: z
    .string()
    .optional()
    .meta({ description: 'A PEM file with the key of KAFKA_TLS_CERT_FILE. Read at start.' }),
  KAFKA_SASL_MECHANISM: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional().meta({
    description:
      'The login mechanism: `plain` (only with TLS, because it sends the password), `scram-sha-256` or `scram-sha-512`.',
  }),
  KAFKA_SASL_USERNAME: z.string().optional().meta({ description: 'The user to log in as.' }),
  KAFKA_SASL_PASSWORD: z.string().optional().meta({ description: 'The password of KAFKA_SASL_USERNAME.' }),
  KAFKA_CREATE_TOPICS: onOff('on').meta({
    description: 'Whether missing topics are created: `on`, or `off` to refuse to start without them.',
  }),
  KAFKA_TOPIC_PARTITIONS: count().prefault('12').meta({
    description:
      'The number of partitions of new topics. At most this many replicas of a service read a topic at the same time.',
  }),
  KAFKA_TOPIC_REPLICATION: count()
    .optional()
    .meta({ description: 'The replication factor of new topics.', defaultText: "the brokers' default" }),
  KAFKA_TOPIC_RETENTION: duration()
    .refine((ms) => ms > 0, 'must be longer than zero')
    .prefault('30d')
    .meta({
      description:
        'How long new topics keep events and dead letters. Must be at least the retention of existing topics: bodies and claims of events are removed after this time.',
    }),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,200}$/, 'must be at most 200 letters, digits, dots, hyphens and underscores')
    .optional()
    .meta({
      description: 'Prepended to the names of topics and consumer groups, so that several systems can share brokers.',
    }),
});
export type KafkaVariables = z.infer<typeof KafkaVariables>;

/** For a service in its own process, which needs brokers to reach the other services. */
export const RequiredKafkaVariables = requiring(KafkaVariables, BROKERS);

/** Undefined without brokers. Throws ConfigFault with one sentence for each combination of variables that is invalid. */
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

/** Like `kafkaFrom`, but also throws ConfigFault when there are no brokers. */
export function requiredKafka(env: Environment): Kafka {
  return shared(BROKERS, kafkaFrom(parseConfig(KafkaVariables, env)));
}

/** Some variables have no default, so setting them without brokers is a mistake. */
function brokersFrom({ KAFKA_BROKERS: brokers, ...variables }: KafkaVariables): Kafka['brokers'] | undefined {
  if (brokers !== undefined) return brokers;
  const { KAFKA_TLS, KAFKA_TLS_CA_FILE, KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD } = variables;
  const deliberate = {
    KAFKA_TLS: KAFKA_TLS === 'on' ? KAFKA_TLS : undefined,
    KAFKA_TLS_CA_FILE,
    KAFKA_SASL_MECHANISM,
    KAFKA_SASL_USERNAME,
    KAFKA_SASL_PASSWORD,
  };
  const names = Object.entries(deliberate).flatMap(([name, value]) => (value === undefined ? [] : [name]));
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

function onOff(fallback: 'on' | 'off') {
  return z.enum(['on', 'off']).default(fallback);
}

function count() {
  return z
    .string()
    .regex(/^[1-9]\d{0,3}$/, 'must be a whole number from 1 to 9999')
    .transform(Number);
}

function isBroker(text: string): boolean {
  const [, port] = /^[A-Za-z0-9._-]+:(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) <= 65_535;
}
