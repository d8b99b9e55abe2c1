import { resolve } from 'node:path';
import { languageModelConfig, LanguageModelVariables, ReviewVariables } from '@call-analysis/analysis/language-model';
import { speechPrice, SpeechPriceVariables } from '@call-analysis/analysis/prices';
import { kafkaFrom, KafkaVariables } from '@call-analysis/bus/variables';
import { encryptionKeysFrom, EncryptionVariables } from '@call-analysis/encryption';
import { httpConfigFrom, HttpVariables, tokenRulesFrom, TokenVariables } from '@call-analysis/gateway/variables';
import { limitsFrom, LimitVariables } from '@call-analysis/ingest/limits';
import { peppersFrom, PepperVariables } from '@call-analysis/key-management/pepper';
import { s3From, S3Variables } from '@call-analysis/objects/variables';
import { AddressVariables, rpcTlsFrom, RpcTlsVariables } from '@call-analysis/rpc';
import {
  CloseVariables,
  ConfigFault,
  type Environment,
  parseConfig,
  postgresUrl,
  readAll,
  TelemetryVariables,
  tracesFrom,
  withSecrets,
} from '@call-analysis/runtime';
import { speechEngine, SpeechVariables } from '@call-analysis/transcription/engines';
import { WebhookVariables } from '@call-analysis/webhooks/variables';
import { z } from 'zod';

const StandaloneVariables = z.object({
  HOST: HttpVariables.shape.HOST.unwrap()
    .default('127.0.0.1')
    .meta({ description: 'The address that serves the API.' }),
  DATA_DIR: z
    .string()
    .default('./data')
    .meta({ description: 'The folder for the database, uploaded files and secrets.' }),
  DATABASE_URL: postgresUrl().optional().meta({
    description: 'Another PostgreSQL server, with a role that may create roles and databases.',
    defaultText: 'PostgreSQL from npm, under DATA_DIR',
    secret: true,
  }),
});

/** Only the admin command signs tokens. */
export const SigningVariables = TokenVariables.extend({
  JWT_PRIVATE_KEY_FILE: z
    .string()
    .optional()
    .meta({ description: 'With JWT_PUBLIC_KEY_FILE: the PEM file of the key that `token issue` signs with.' }),
});

const PEPPER = PepperVariables.partial();
const EDGE = HttpVariables.omit({ HOST: true });

/** The variables of all services in one process. */
export const variables = [
  StandaloneVariables,
  EDGE,
  SigningVariables,
  PEPPER,
  LimitVariables,
  SpeechVariables,
  SpeechPriceVariables,
  LanguageModelVariables,
  ReviewVariables,
  WebhookVariables,
  KafkaVariables,
  S3Variables,
  EncryptionVariables,
  TelemetryVariables,
  CloseVariables,
];

/** The settings of the complete system on one machine (docs/api.md, "Configuration and commands"). */
export type Settings = ReturnType<typeof readSettings>;

/** What is undefined comes with the data directory: PostgreSQL from npm, the disk as a store, keys and secrets. */
export function readSettings(environment: Environment) {
  const env = withSecrets(environment, variables);
  const { own, http, close, ...services } = readAll({
    own: () => parseConfig(StandaloneVariables, env),
    http: () => parseConfig(EDGE, env),
    jwt: () => jwtFrom(parseConfig(SigningVariables, env)),
    peppers: () => peppersFrom(parseConfig(PEPPER, env)),
    close: () => parseConfig(CloseVariables, env),
    traces: () => tracesFrom(parseConfig(TelemetryVariables, env)),
    limits: () => limitsFrom(parseConfig(LimitVariables, env)),
    speech: () => speechEngine(env),
    analysis: () =>
      readAll({
        languageModel: () => languageModelConfig(env),
        speechPrice: () => speechPrice(env),
        reviewBelow: () => parseConfig(ReviewVariables, env).REVIEW_BELOW,
      }),
    webhooksAllowPrivate: () => parseConfig(WebhookVariables, env).WEBHOOK_ALLOW_PRIVATE,
    kafka: () => kafkaFrom(parseConfig(KafkaVariables, env)),
    s3: () => s3From(parseConfig(S3Variables, env)),
    encryption: () => encryptionKeysFrom(env),
  });
  return {
    ...services,
    http: httpConfigFrom({ ...http, HOST: own.HOST }),
    /** Undefined: URLs are made from the Host header of the request. */
    publicUrl: http.PUBLIC_URL,
    dataDirectory: resolve(own.DATA_DIR),
    databaseUrl: own.DATABASE_URL,
    /** How long work in progress may continue after the process gets a signal to stop. */
    closeMs: close.CLOSE_TIMEOUT,
  };
}

const REMOTE = AddressVariables.pick({ KEY_MANAGEMENT_ADDRESS: true, INGEST_ADDRESS: true }).partial();

const PUBLIC = HttpVariables.pick({ PUBLIC_URL: true });

/**
 * The variables of the admin command when each service is its own process. Dead letters are then in Kafka, ingest retries
 * calls, and key-management answers everything else.
 */
export const remoteVariables = [
  REMOTE,
  PUBLIC,
  RpcTlsVariables,
  SigningVariables,
  KafkaVariables,
  S3Variables,
  EncryptionVariables,
];

/** How the admin command reaches a key-management that is not on this machine. */
export type RemoteSettings = NonNullable<ReturnType<typeof readRemote>>;

/** Undefined without KEY_MANAGEMENT_ADDRESS: the service is then on this machine. */
export function readRemote(environment: Environment) {
  if ((environment['KEY_MANAGEMENT_ADDRESS'] ?? '') === '') return undefined;
  const env = withSecrets(environment, remoteVariables);
  const { addresses, tls, jwt, publicUrl } = readAll({
    publicUrl: () => parseConfig(PUBLIC, env).PUBLIC_URL,
    addresses: () => parseConfig(REMOTE.required({ KEY_MANAGEMENT_ADDRESS: true }), env),
    tls: () => rpcTlsFrom(parseConfig(RpcTlsVariables, env)),
    jwt: () => jwtFrom(parseConfig(SigningVariables, env)),
  });
  return { address: addresses.KEY_MANAGEMENT_ADDRESS, ingest: addresses.INGEST_ADDRESS, tls, jwt, publicUrl };
}

/** How bearer tokens are checked, and how the admin command issues them. */
export type JwtSettings = ReturnType<typeof jwtFrom>;

/**
 * Without a key, the secret in the data directory is the key. `privateKeyFile` signs tokens when they are checked with a
 * public key. Throws ConfigFault when the keys do not go together, or one cannot be read.
 */
function jwtFrom(variables: z.output<typeof SigningVariables>) {
  const { JWT_PRIVATE_KEY_FILE: privateKeyFile, JWT_PUBLIC_KEY_FILE: publicKeyFile } = variables;
  if (privateKeyFile !== undefined && publicKeyFile === undefined) {
    throw new ConfigFault('JWT_PRIVATE_KEY_FILE is set, so JWT_PUBLIC_KEY_FILE must be set too.');
  }
  const rules = tokenRulesFrom(variables);
  const { previousKeys, identityProvider } = rules ?? {};
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = variables;
  return { issuer, audience, key: rules?.key, previousKeys, identityProvider, privateKeyFile };
}
