import { resolve } from 'node:path';
import { type Kafka, kafkaFrom, KafkaVariables } from '@call-analysis/bus';
import { edgeFrom, EdgeVariables, type TokenRules, tokenRulesFrom, TokenVariables } from '@call-analysis/gateway';
import { type Limits, limitsFrom, LimitVariables } from '@call-analysis/ingest';
import { PepperVariables } from '@call-analysis/key-management';
import { type S3Config, s3From, S3Variables } from '@call-analysis/objects';
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
import { type LocalEngine, type OtherEngine, speechEngine, SpeechVariables } from '@call-analysis/transcription';
import { z } from 'zod';

/** What the environment says of the whole system on one machine (api.md, section 9). */
export interface Settings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dataDirectory: string;
  readonly logLevel: LogLevel;
  /** How long what is in hand may go on once the process is told to stop. */
  readonly closeMs: number;
  /** Absent: URLs are made from the Host header of the request. */
  readonly publicUrl: string | undefined;
  /** Absent: PostgreSQL from npm, under the data directory. */
  readonly databaseUrl: string | undefined;
  /** What firms and addresses may ask for, in requests per minute. */
  readonly quotas: { readonly perFirm: number; readonly perAddress: number } | undefined;
  /** Proxies whose word on who stands behind them is taken. */
  readonly trustedProxies: readonly string[] | undefined;
  /** Origins whose pages may read answers. */
  readonly corsOrigins: readonly string[] | undefined;
  readonly jwt: JwtSettings;
  /** Absent: the one that the data directory keeps. */
  readonly apiKeyPepper: string | undefined;
  /** What turns speech into text. */
  readonly speech: LocalEngine | OtherEngine;
  /** Absent: facts travel within the database. */
  readonly kafka?: Kafka | undefined;
  /** Absent: files are kept under the data directory. */
  readonly s3?: S3Config | undefined;
  /** What is taken at most. */
  readonly limits: Limits;
  /** Where traces are sent; absent: nowhere. */
  readonly traces?: SpanExportOptions | undefined;
}

/** How bearer tokens are checked, and how the administrator issues them. */
export interface JwtSettings extends Omit<TokenRules, 'key'> {
  /** Absent: the secret that the data directory keeps. */
  readonly key: TokenRules['key'] | undefined;
  /** Signs, where tokens are checked with a public key. */
  readonly privateKeyFile: string | undefined;
}

/** A language model comes with a later version; until then what asks for one is refused, whole or half. */
const laterGroup = ['LLM_URL', 'LLM_MODEL'];

const StandaloneVariables = z.object({
  HOST: EdgeVariables.shape.HOST.unwrap()
    .default('127.0.0.1')
    .meta({ description: 'The address that serves the API.' }),
  DATA_DIR: z.string().default('./data').meta({ description: 'The database, uploaded files and secrets.' }),
  DATABASE_URL: postgresUrl().optional().meta({
    description: 'Another PostgreSQL, as a role that may create roles and databases.',
    defaultText: 'PostgreSQL from npm, under DATA_DIR',
    secret: true,
  }),
});

/** Only the administrator's command signs. */
export const SigningVariables = TokenVariables.extend({
  JWT_PRIVATE_KEY_FILE: z
    .string()
    .optional()
    .meta({ description: 'Beside JWT_PUBLIC_KEY_FILE: a PEM file of the key that `token issue` signs with.' }),
});

const PEPPER = PepperVariables.partial();
const EDGE = EdgeVariables.omit({ HOST: true });

/** What the environment of all services in one process may say. */
export const variables = [
  StandaloneVariables,
  EDGE,
  SigningVariables,
  PEPPER,
  LimitVariables,
  SpeechVariables,
  KafkaVariables,
  S3Variables,
  TelemetryVariables,
  CloseVariables,
];

export function readSettings(environment: Environment): Settings {
  const env = withSecrets(environment, variables);
  const read = readAll({
    later: () => refuseLater(env),
    own: () => parseConfig(StandaloneVariables, env),
    edge: () => parseConfig(EDGE, env),
    jwt: () => jwtFrom(parseConfig(SigningVariables, env)),
    pepper: () => parseConfig(PEPPER, env),
    telemetry: () => parseConfig(TelemetryVariables, env),
    close: () => parseConfig(CloseVariables, env),
    traces: () => tracesFrom(parseConfig(TelemetryVariables, env)),
    limits: () => limitsFrom(parseConfig(LimitVariables, env)),
    speech: () => speechEngine(env),
    kafka: () => kafkaFrom(parseConfig(KafkaVariables, env)),
    s3: () => s3From(parseConfig(S3Variables, env)),
  });
  const { host, port, publicUrl, quotas, trustedProxies, corsOrigins } = edgeFrom({
    ...read.edge,
    HOST: read.own.HOST,
  });
  return {
    host,
    port,
    publicUrl,
    quotas,
    trustedProxies,
    corsOrigins,
    dataDirectory: resolve(read.own.DATA_DIR),
    databaseUrl: read.own.DATABASE_URL,
    logLevel: read.telemetry.LOG_LEVEL,
    closeMs: read.close.CLOSE_TIMEOUT,
    jwt: read.jwt,
    apiKeyPepper: read.pepper.API_KEY_PEPPER,
    limits: read.limits,
    speech: read.speech,
    kafka: read.kafka,
    s3: read.s3,
    traces: read.traces,
  };
}

const REMOTE = AddressVariables.pick({ KEY_MANAGEMENT_ADDRESS: true }).partial();

/**
 * What the environment of the administrator's command may say where each service is a process of its own. Dead letters are
 * then in Kafka; all else is asked of key-management.
 */
export const remoteVariables = [REMOTE, RpcTlsVariables, SigningVariables, KafkaVariables];

/** How the administrator's command reaches a key-management that is not on this machine. */
export interface RemoteSettings {
  readonly address: string;
  readonly tls?: Tls | undefined;
  readonly jwt: JwtSettings;
}

/** Undefined without KEY_MANAGEMENT_ADDRESS: the service is on this machine then. */
export function readRemote(environment: Environment): RemoteSettings | undefined {
  if ((environment['KEY_MANAGEMENT_ADDRESS'] ?? '') === '') return undefined;
  const env = withSecrets(environment, remoteVariables);
  const { address, tls, jwt } = readAll({
    address: () => parseConfig(REMOTE.required(), env).KEY_MANAGEMENT_ADDRESS,
    tls: () => rpcTlsFrom(parseConfig(RpcTlsVariables, env)),
    jwt: () => jwtFrom(parseConfig(SigningVariables, env)),
  });
  return { address, tls, jwt };
}

function refuseLater(env: Environment): void {
  const set = laterGroup.filter((name) => (env[name] ?? '') !== '');
  if (set.length === 0) return;
  const missing = laterGroup.filter((name) => !set.includes(name));
  const half = missing.length === 0 ? '' : ` without ${missing.join(' and ')}`;
  throw new ConfigFault(
    `${set.join(' and ')} ${set.length === 1 ? 'is' : 'are'} set${half}, but this version has no language model as analyst. Take ${set.length === 1 ? 'it' : 'them'} out of the environment.`,
  );
}

/** ConfigFault when the keys do not go together, or one cannot be read. */
function jwtFrom(variables: z.output<typeof SigningVariables>): JwtSettings {
  const { JWT_PRIVATE_KEY_FILE: privateKeyFile, JWT_PUBLIC_KEY_FILE: publicKeyFile } = variables;
  if (privateKeyFile !== undefined && publicKeyFile === undefined) {
    throw new ConfigFault('JWT_PRIVATE_KEY_FILE is set, so JWT_PUBLIC_KEY_FILE must be set too.');
  }
  const rules = tokenRulesFrom(variables);
  return { issuer: variables.JWT_ISSUER, audience: variables.JWT_AUDIENCE, key: rules?.key, privateKeyFile };
}
