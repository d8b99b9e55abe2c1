import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { defaultQuotas } from '@call-analysis/gateway';
import type { Environment, LogLevel, SpanExportOptions } from '@call-analysis/runtime';
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
  /** What firms and addresses may ask for, in requests per minute. */
  readonly quotas: { readonly perFirm: number; readonly perAddress: number };
  /** Proxies whose word on who stands behind them is taken. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may read answers. */
  readonly corsOrigins: readonly string[];
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
  /** Where traces are sent; absent: nowhere. */
  readonly traces?: SpanExportOptions | undefined;
}

const secrets = ['JWT_SECRET', 'API_KEY_PEPPER', 'DATABASE_URL', 'S3_SECRET_KEY', 'SPEECH_API_KEY', 'LLM_API_KEY', 'OTEL_EXPORTER_OTLP_HEADERS'];

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
  RATE_LIMIT_PER_FIRM: perMinute().default(defaultQuotas.perFirm),
  RATE_LIMIT_PER_ADDRESS: perMinute().default(defaultQuotas.perAddress),
  TRUST_PROXY: listOf(isProxy, 'must be addresses or networks with commas between them, such as 10.0.0.0/8').default([]),
  CORS_ORIGINS: listOf(isOrigin, 'must be origins with commas between them, such as https://example.com, or *').default([]),
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
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
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
    quotas: { perFirm: variables.RATE_LIMIT_PER_FIRM, perAddress: variables.RATE_LIMIT_PER_ADDRESS },
    trustedProxies: variables.TRUST_PROXY,
    corsOrigins: variables.CORS_ORIGINS,
    jwt: {
      issuer: variables.JWT_ISSUER,
      audience: variables.JWT_AUDIENCE,
      secret: variables.JWT_SECRET,
      publicKeyFile: variables.JWT_PUBLIC_KEY_FILE,
      privateKeyFile: variables.JWT_PRIVATE_KEY_FILE,
    },
    apiKeyPepper: variables.API_KEY_PEPPER,
    speech: speechEngine(env, variables),
    traces: spanExport(variables.OTEL_EXPORTER_OTLP_ENDPOINT, variables.OTEL_EXPORTER_OTLP_HEADERS),
  };
}

/** The headers are written `name=value,name=value`, percent-encoded, as OpenTelemetry has it. They hold keys, so none is shown. */
function spanExport(endpoint: string | undefined, headers: string | undefined): SpanExportOptions | undefined {
  if (endpoint === undefined) return undefined;
  const pairs = (headers ?? '').split(',').filter((pair) => pair.trim() !== '');
  const named = pairs.map((pair) => {
    const [, name, value] = /^\s*([!#$%&'*+.^`|~\w-]+)\s*=(.*)$/.exec(pair) ?? [];
    try {
      if (name !== undefined && value !== undefined) return [name, decodeURIComponent(value.trim())] as const;
    } catch {
      // A percent sign that stands for nothing is said below.
    }
    throw new ConfigFault('OTEL_EXPORTER_OTLP_HEADERS must be written like name=value,name=value, percent-encoded.');
  });
  return { endpoint, headers: Object.fromEntries(named) };
}

/** Requests; 0 for no limit. */
function perMinute() {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number of requests per minute, or 0 for no limit')
    .transform(Number);
}

function listOf(isGood: (each: string) => boolean, message: string) {
  return z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .refine((list) => list.every(isGood), message);
}

/** What a browser sends as `Origin`: without a path, not even a slash. */
function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text);
}

function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
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
