import { createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { ConfigFault, port, readNamedFile } from '@call-analysis/runtime';
import { z } from 'zod';
import type { TokenRules } from './authentication/token.ts';
import { defaultQuotas, type Quotas } from './rate-limits/rate-limits.ts';

/** The settings of the HTTP edge. */
export interface Edge {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The base of absolute URLs in responses. Default: the Host of the request. */
  readonly publicUrl?: string | undefined;
  /** Rate limits of firms and addresses. */
  readonly quotas?: Quotas | undefined;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Origins whose pages may read responses. `*` is any. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** How bearer tokens are checked. */
  readonly jwt: TokenRules;
}

/** Variables of the HTTP edge. */
export const EdgeVariables = z.object({
  HOST: z.string().default('0.0.0.0').meta({ description: 'The address on which the API is served.' }),
  PORT: port().default(8080).meta({ description: 'The port of the API. 0 picks a free port.' }),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .refine(isBase, 'must be a URL without user, query and fragment, to which paths can be appended')
    .optional()
    .meta({
      description: 'The base of URLs in responses. Set it behind TLS or a proxy.',
      defaultText: "the request's Host",
    }),
  RATE_LIMIT_PER_FIRM: perMinute().default(defaultQuotas.perFirm).meta({
    description: 'Requests per minute of one firm, all of which may be sent at the same time. 0 is no limit.',
  }),
  RATE_LIMIT_PER_ADDRESS: perMinute()
    .default(defaultQuotas.perAddress)
    .meta({ description: 'The same for one client address. It may fail to authenticate a twentieth as often.' }),
  TRUST_PROXY: listOf(isProxy, 'must be addresses or networks separated by commas, such as 10.0.0.0/8')
    .default([])
    .meta({ description: 'Addresses and networks of proxies whose X-Forwarded-For header is trusted.' }),
  CORS_ORIGINS: listOf(isOrigin, 'must be origins separated by commas, such as https://example.com, or *')
    .default([])
    .meta({ description: 'Origins whose pages may read responses, separated by commas. `*` is any.' }),
});

/** Variables for the verification of bearer tokens. */
export const TokenVariables = z.object({
  JWT_ISSUER: z
    .string()
    .default('call-analysis')
    .meta({ description: 'The issuer of bearer tokens, required in their `iss` claim.' }),
  JWT_AUDIENCE: z
    .string()
    .default('call-analysis')
    .meta({ description: 'The audience of bearer tokens, required in their `aud` claim.' }),
  JWT_SECRET: z
    .string()
    .refine((secret) => Buffer.byteLength(secret) >= 32, 'must have at least 32 bytes')
    .optional()
    .meta({ description: 'The secret of bearer tokens signed with HS256, at least 32 bytes.' }),
  JWT_PUBLIC_KEY_FILE: z.string().optional().meta({
    description: 'Instead of JWT_SECRET: a PEM file with the public key of tokens signed with RS256, ES256 or EdDSA.',
  }),
});

/** The settings of the edge, except those of its tokens. */
export function edgeFrom(variables: z.output<typeof EdgeVariables>): Omit<Edge, 'jwt'> {
  return {
    host: variables.HOST,
    port: variables.PORT,
    publicUrl: variables.PUBLIC_URL,
    quotas: { perFirm: variables.RATE_LIMIT_PER_FIRM, perAddress: variables.RATE_LIMIT_PER_ADDRESS },
    trustedProxies: variables.TRUST_PROXY,
    corsOrigins: variables.CORS_ORIGINS,
  };
}

/** Undefined without a secret and a public key. Throws ConfigFault when both are set, or when the key is invalid. */
export function tokenRulesFrom(variables: z.output<typeof TokenVariables>): TokenRules | undefined {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWT_SECRET: secret, JWT_PUBLIC_KEY_FILE: file } = variables;
  if (secret !== undefined && file !== undefined) {
    throw new ConfigFault('JWT_SECRET and JWT_PUBLIC_KEY_FILE are both set; set only one of them.');
  }
  if (secret !== undefined) return { issuer, audience, key: { kind: 'secret', secret } };
  if (file === undefined) return undefined;
  const pem = readPem('JWT_PUBLIC_KEY_FILE', file, createPublicKey).export({ type: 'spki', format: 'pem' }).toString();
  return { issuer, audience, key: { kind: 'public-key', pem } };
}

/** The key in the file that a variable names. Throws ConfigFault when it cannot be read. */
export function readPem(variable: string, file: string, read: (pem: string) => KeyObject): KeyObject {
  const pem = readNamedFile(variable, file);
  try {
    return read(pem);
  } catch {
    throw new ConfigFault(`${variable} names ${file}, which is not such a key in PEM form.`);
  }
}

/** A number of requests. 0 is no limit. */
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

/** Also true for text that is not a URL, which is reported by another rule. */
function isBase(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === '' && password === '' && !/[?#]/.test(text);
}

/** An origin as browsers send it in `Origin`: without a path, and without a trailing slash. */
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
