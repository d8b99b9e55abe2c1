import { resolve } from 'node:path';
import {
  type LanguageModelConfig,
  languageModelConfig,
  LanguageModelVariables,
  ReviewVariables,
  type SpeechPrice,
  speechPrice,
  SpeechPriceVariables,
} from '@call-analysis/analysis/variables';
import type { Kafka } from '@call-analysis/bus';
import { kafkaFrom, KafkaVariables } from '@call-analysis/bus/variables';
import { type EncryptionKeys, encryptionKeysFrom, EncryptionVariables } from '@call-analysis/encryption';
import type { TokenRules } from '@call-analysis/gateway';
import {
  type Concurrency,
  httpConfigFrom,
  HttpVariables,
  type OpenIdSettings,
  tokenRulesFrom,
  TokenVariables,
} from '@call-analysis/gateway/variables';
import { type Limits, limitsFrom, LimitVariables } from '@call-analysis/ingest/limits';
import { PepperVariables } from '@call-analysis/key-management/pepper';
import type { S3Config } from '@call-analysis/objects';
import { s3From, S3Variables } from '@call-analysis/objects/variables';
import { AddressVariables, rpcTlsFrom, RpcTlsVariables, type Tls } from '@call-analysis/rpc';
import {
  CloseVariables,
  ConfigFault,
  type Environment,
  type LogLevel,
  parseConfig,
  postgresUrl,
  readAll,
  type SpanExportOptions,
  TelemetryVariables,
  tracesFrom,
  withSecrets,
} from '@call-analysis/runtime';
import {
  type LocalEngine,
  type OtherEngine,
  speechEngine,
  SpeechVariables,
} from '@call-analysis/transcription/engines';
import { WebhookVariables } from '@call-analysis/webhooks/variables';
import { z } from 'zod';

/** The settings of the complete system on one machine (docs/api.md, "Configuration and commands"). */
export interface Settings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dataDirectory: string;
  readonly logLevel: LogLevel;
  /** How long work in progress may continue after the process gets a signal to stop. */
  readonly closeMs: number;
  /** Absent: URLs are made from the Host header of the request. */
  readonly publicUrl: string | undefined;
  /** Absent: PostgreSQL from npm, under the data directory. */
  readonly databaseUrl: string | undefined;
  /** Rate limits per firm and per address, in requests per minute. */
  readonly quotas: { readonly perFirm: number; readonly perAddress: number } | undefined;
  /** Limits of requests in progress at the same time. */
  readonly concurrency: Concurrency | undefined;
  /** Proxies whose X-Forwarded-For header is trusted. */
  readonly trustedProxies: readonly string[] | undefined;
  /** Origins whose pages may read responses. */
  readonly corsOrigins: readonly string[] | undefined;
  /** The firms whose staff may act on every firm. Absent: any. */
  readonly platformFirms?: readonly string[] | undefined;
  /** The identity provider for sign-ins. */
  readonly openId?: OpenIdSettings | undefined;
  readonly jwt: JwtSettings;
  /** Absent: the pepper in the data directory. */
  readonly apiKeyPepper: string | undefined;
  /** The pepper before, while it is changed. */
  readonly previousPepper?: string | undefined;
  readonly nextPepper?: string | undefined;
  /** The transcription engine. */
  readonly speech: LocalEngine | OtherEngine;
  /** Null: rules answer what they can. */
  readonly languageModel: LanguageModelConfig | null;
  /** The price of a minute of speech; null when unknown. */
  readonly speechPrice: SpeechPrice | null;
  /** Answers that are less sure need a review. */
  readonly reviewBelow: number;
  /** Absent: events stay within the database. */
  readonly kafka?: Kafka | undefined;
  /** Absent: files are kept under the data directory. */
  readonly s3?: S3Config | undefined;
  /** Encrypts recordings and conversation texts. Absent: they are stored as they are. */
  readonly encryption?: EncryptionKeys | undefined;
  /** Whether webhooks may use http and addresses that are not public. */
  readonly webhooksAllowPrivate: boolean;
  /** The limits of uploads. */
  readonly limits: Limits;
  /** Where traces are exported to. Absent: traces are not exported. */
  readonly traces?: SpanExportOptions | undefined;
}

/** How bearer tokens are checked, and how the admin command issues them. */
export interface JwtSettings extends Omit<TokenRules, 'key'> {
  /** Absent: the secret in the data directory. */
  readonly key: TokenRules['key'] | undefined;
  /** Signs tokens when they are checked with a public key. */
  readonly privateKeyFile: string | undefined;
}

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

export function readSettings(environment: Environment): Settings {
  const env = withSecrets(environment, variables);
  const read = readAll({
    own: () => parseConfig(StandaloneVariables, env),
    edge: () => parseConfig(EDGE, env),
    jwt: () => jwtFrom(parseConfig(SigningVariables, env)),
    pepper: () => parseConfig(PEPPER, env),
    telemetry: () => parseConfig(TelemetryVariables, env),
    close: () => parseConfig(CloseVariables, env),
    traces: () => tracesFrom(parseConfig(TelemetryVariables, env)),
    limits: () => limitsFrom(parseConfig(LimitVariables, env)),
    speech: () => speechEngine(env),
    languageModel: () => languageModelConfig(env),
    speechPrice: () => speechPrice(env),
    reviewBelow: () => parseConfig(ReviewVariables, env).REVIEW_BELOW,
    webhooks: () => parseConfig(WebhookVariables, env),
    kafka: () => kafkaFrom(parseConfig(KafkaVariables, env)),
    s3: () => s3From(parseConfig(S3Variables, env)),
    encryption: () => encryptionKeysFrom(env),
  });
  const { host, port, publicUrl, quotas, concurrency, trustedProxies, corsOrigins, platformFirms, openId } =
    httpConfigFrom({
      ...read.edge,
      HOST: read.own.HOST,
    });
  return {
    host,
    port,
    publicUrl,
    quotas,
    concurrency,
    trustedProxies,
    corsOrigins,
    ...(platformFirms !== undefined && { platformFirms }),
    ...(openId !== undefined && { openId }),
    dataDirectory: resolve(read.own.DATA_DIR),
    databaseUrl: read.own.DATABASE_URL,
    logLevel: read.telemetry.LOG_LEVEL,
    closeMs: read.close.CLOSE_TIMEOUT,
    jwt: read.jwt,
    apiKeyPepper: read.pepper.API_KEY_PEPPER,
    previousPepper: read.pepper.API_KEY_PEPPER_PREVIOUS,
    nextPepper: read.pepper.API_KEY_PEPPER_NEXT,
    limits: read.limits,
    speech: read.speech,
    languageModel: read.languageModel,
    speechPrice: read.speechPrice,
    reviewBelow: read.reviewBelow,
    webhooksAllowPrivate: read.webhooks.WEBHOOK_ALLOW_PRIVATE,
    kafka: read.kafka,
    s3: read.s3,
    encryption: read.encryption,
    traces: read.traces,
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
export interface RemoteSettings {
  readonly address: string;
  /** Where ingest is; undefined when the environment does not say. */
  readonly ingest?: string | undefined;
  readonly tls?: Tls | undefined;
  /** The identity provider for sign-ins. */
  readonly openId?: OpenIdSettings | undefined;
  readonly jwt: JwtSettings;
  /** Where people reach the API. */
  readonly publicUrl: string | undefined;
}

/** Undefined without KEY_MANAGEMENT_ADDRESS: the service is then on this machine. */
export function readRemote(environment: Environment): RemoteSettings | undefined {
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

/** Throws ConfigFault when the keys do not go together, or one cannot be read. */
function jwtFrom(variables: z.output<typeof SigningVariables>): JwtSettings {
  const { JWT_PRIVATE_KEY_FILE: privateKeyFile, JWT_PUBLIC_KEY_FILE: publicKeyFile } = variables;
  if (privateKeyFile !== undefined && publicKeyFile === undefined) {
    throw new ConfigFault('JWT_PRIVATE_KEY_FILE is set, so JWT_PUBLIC_KEY_FILE must be set too.');
  }
  const rules = tokenRulesFrom(variables);
  const { previousKeys, identityProvider } = rules ?? {};
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = variables;
  return { issuer, audience, key: rules?.key, previousKeys, identityProvider, privateKeyFile };
}
