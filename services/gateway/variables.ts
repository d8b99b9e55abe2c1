import { createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { ConfigFault, port, readNamedFile } from '@call-analysis/runtime';
import { z } from 'zod';
import type { TokenRules } from './authentication/token.ts';
import { defaultQuotas, type Quotas } from './rate-limits/rate-limits.ts';

/** What the HTTP edge itself is set up with. */
export interface Edge {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** What absolute URLs in answers begin with; the request's own Host when it is not given. */
  readonly publicUrl?: string | undefined;
  /** What firms and addresses may ask for. */
  readonly quotas?: Quotas | undefined;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is believed. Default none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Origins whose pages may read answers; `*` is any. Default none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** How bearer tokens are checked. */
  readonly jwt: TokenRules;
}

/** The HTTP edge. */
export const EdgeVariables = z.object({
  HOST: z.string().default('0.0.0.0').meta({ description: 'The address that serves the API.' }),
  PORT: port().default(8080).meta({ description: 'Its port; 0 picks a free one.' }),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .refine(isBase, 'must be a URL without user, query and fragment, behind which paths can be put')
    .optional()
    .meta({
      description: 'What URLs in answers begin with; set it behind TLS or a proxy.',
      defaultText: "from the request's Host",
    }),
  RATE_LIMIT_PER_FIRM: perMinute()
    .default(defaultQuotas.perFirm)
    .meta({ description: 'Requests a minute of one firm, also the most at once; 0 is no limit.' }),
  RATE_LIMIT_PER_ADDRESS: perMinute()
    .default(defaultQuotas.perAddress)
    .meta({ description: 'The same of one address. A failed proof counts as 20.' }),
  TRUST_PROXY: listOf(isProxy, 'must be addresses or networks with commas between them, such as 10.0.0.0/8')
    .default([])
    .meta({ description: 'Addresses and networks of proxies that are believed when they say whom they speak for.' }),
  CORS_ORIGINS: listOf(isOrigin, 'must be origins with commas between them, such as https://example.com, or *')
    .default([])
    .meta({ description: 'Origins whose pages may read answers, with commas between them; `*` is any.' }),
});

/** What bearer tokens are checked with. */
export const TokenVariables = z.object({
  JWT_ISSUER: z
    .string()
    .default('call-analysis')
    .meta({ description: 'Who has issued a bearer token, as its `iss` must say.' }),
  JWT_AUDIENCE: z
    .string()
    .default('call-analysis')
    .meta({ description: 'Whom it is meant for, as its `aud` must say.' }),
  JWT_SECRET: z
    .string()
    .refine((secret) => Buffer.byteLength(secret) >= 32, 'must have at least 32 bytes')
    .optional()
    .meta({ description: 'What bearer tokens are signed with by HS256, 32 bytes or more.' }),
  JWT_PUBLIC_KEY_FILE: z
    .string()
    .optional()
    .meta({ description: 'Instead of JWT_SECRET: a PEM file of the key that checks tokens by RS256, ES256 or EdDSA.' }),
});

/** What the edge is set up with, but for its tokens. */
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

/** Undefined when there is neither a secret nor a public key. ConfigFault when there are both, or the key is none. */
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

/** The key in a file that a variable names; ConfigFault says what is wrong with it. */
export function readPem(variable: string, file: string, read: (pem: string) => KeyObject): KeyObject {
  const pem = readNamedFile(variable, file);
  try {
    return read(pem);
  } catch {
    throw new ConfigFault(`${variable} names ${file}, which is not such a key in PEM form.`);
  }
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

/** True, too, of what is no URL: that is said of it already. */
function isBase(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === '' && password === '' && !/[?#]/.test(text);
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
