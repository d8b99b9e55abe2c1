import { resolve } from 'node:path';
import type { Environment, LogLevel } from '@call-analysis/runtime';
import { ConfigFault, group, logLevel, parseConfig, port, withSecretFiles } from '@call-analysis/runtime';
import type { LocalEngine, OtherEngine } from '@call-analysis/transcription';
import { otherEngine } from '@call-analysis/transcription';
import { z } from 'zod';

/** What the environment says of the whole system on one machine (api.md, section 9). */
export interface Settings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dataDirectory: string;
  readonly logLevel: LogLevel;
  /** Absent: URLs are made from the Host header of the request. */
  readonly publicUrl: string | undefined;
  /** Absent: PostgreSQL from npm, under the data directory. */
  readonly databaseUrl: string | undefined;
  readonly jwt: {
    readonly issuer: string;
    readonly audience: string;
    /** Absent: the secret that the data directory keeps. */
    readonly secret: string | undefined;
    readonly publicKeyFile: string | undefined;
    readonly privateKeyFile: string | undefined;
  };
  /** Absent: the one that the data directory keeps. */
  readonly apiKeyPepper: string | undefined;
  /** What turns speech into text. */
  readonly speech: LocalEngine | OtherEngine;
}

const secrets = ['JWT_SECRET', 'API_KEY_PEPPER', 'DATABASE_URL', 'S3_SECRET_KEY', 'SPEECH_API_KEY', 'LLM_API_KEY'];

/** Parts that more machines need; each comes with a later version, and half of one is refused already. */
const laterGroups = [
  ['KAFKA_BROKERS'],
  ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'],
  ['LLM_URL', 'LLM_MODEL'],
];

const Variables = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port().default(8080),
  DATA_DIR: z.string().default('./data'),
  LOG_LEVEL: logLevel().default('info'),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must begin with postgresql://').optional(),
  JWT_ISSUER: z.string().default('call-analysis'),
  JWT_AUDIENCE: z.string().default('call-analysis'),
  JWT_SECRET: z
    .string()
    .refine((secret) => Buffer.byteLength(secret) >= 32, 'must have at least 32 bytes')
    .optional(),
  JWT_PUBLIC_KEY_FILE: z.string().optional(),
  JWT_PRIVATE_KEY_FILE: z.string().optional(),
  API_KEY_PEPPER: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .optional(),
  SPEECH_MODEL_DIR: z.string().optional(),
  SPEECH_EARS: z
    .string()
    .regex(/^([1-9]|[1-9]\d)$/, 'must be a number from 1 to 99')
    .transform(Number)
    .optional(),
});

export function readSettings(environment: Environment): Settings {
  const env = withSecretFiles(environment, secrets);
  for (const names of laterGroups) {
    if (group(env, names) === 'all') {
      throw new ConfigFault(`${names[0]} is set, but this version runs on one machine only. Take it out of the environment.`);
    }
  }
  const variables = parseConfig(Variables, env);
  if (variables.JWT_SECRET !== undefined && variables.JWT_PUBLIC_KEY_FILE !== undefined) {
    throw new ConfigFault('JWT_SECRET and JWT_PUBLIC_KEY_FILE are both set; set only one of them.');
  }
  if (variables.JWT_PRIVATE_KEY_FILE !== undefined && variables.JWT_PUBLIC_KEY_FILE === undefined) {
    throw new ConfigFault('JWT_PRIVATE_KEY_FILE is set, so JWT_PUBLIC_KEY_FILE must be set too.');
  }
  return {
    host: variables.HOST,
    port: variables.PORT,
    dataDirectory: resolve(variables.DATA_DIR),
    logLevel: variables.LOG_LEVEL,
    publicUrl: variables.PUBLIC_URL,
    databaseUrl: variables.DATABASE_URL,
    jwt: {
      issuer: variables.JWT_ISSUER,
      audience: variables.JWT_AUDIENCE,
      secret: variables.JWT_SECRET,
      publicKeyFile: variables.JWT_PUBLIC_KEY_FILE,
      privateKeyFile: variables.JWT_PRIVATE_KEY_FILE,
    },
    apiKeyPepper: variables.API_KEY_PEPPER,
    speech: speechEngine(env, variables),
  };
}

function speechEngine(env: Environment, local: { SPEECH_MODEL_DIR?: string | undefined; SPEECH_EARS?: number | undefined }): Settings['speech'] {
  const other = otherEngine(env);
  if (other === null) return { kind: 'local', modelDirectory: local.SPEECH_MODEL_DIR, ears: local.SPEECH_EARS };
  for (const name of ['SPEECH_MODEL_DIR', 'SPEECH_EARS'] as const) {
    if (local[name] === undefined) continue;
    const chosen = other.kind === 'openai' ? 'SPEECH_URL' : 'SPEECH_COMMAND';
    throw new ConfigFault(`${name} is for the local engine, but ${chosen} chooses another one; set only one of them.`);
  }
  return other;
}
