import { createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { Uuid } from '@call-analysis/events';
import { ConfigFault, port, readNamedFile } from '@call-analysis/runtime';
import { z } from 'zod';
import type { TokenKey } from './authentication/signing-keys.ts';
import type { TokenRules } from './authentication/token.ts';
import { type Concurrency, defaultConcurrency } from './http/rate-limits/admission.ts';
import { defaultQuotas, type Quotas } from './http/rate-limits/rate-limits.ts';
import { openIdFrom, OpenIdVariables } from './openid-connect/variables.ts';

export { keyIdOf } from './authentication/signing-keys.ts';

type Edge = ReturnType<typeof httpConfigFrom>;

/** The settings of the HTTP edge, as HttpVariables describes them. What is left out has the default of its variable. */
export interface HttpConfig extends Partial<Omit<Edge, 'host' | 'port'>> {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The object store's own origin, where clients reach it directly. Pages of the console may play and upload there. */
  readonly objectsOrigin?: string | undefined;
  /** How bearer tokens are checked. */
  readonly jwt: TokenRules;
}

/** Variables of the HTTP edge. */
export const HttpVariables = z.object({
  HOST: z.string().default('0.0.0.0').meta({ description: 'The address on which the API is served.' }),
  PORT: port().default(8080).meta({ description: 'The port of the API. 0 picks a free port.' }),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .refine(isBase, 'must be a URL without user, query and fragment, to which paths can be appended')
    .optional()
    .meta({
      description: 'The base of URLs in responses. Set it if TLS or a proxy is in front of the gateway.',
      defaultText: "the request's Host",
    }),
  RATE_LIMIT_PER_FIRM: perMinute().default(defaultQuotas.perFirm).meta({
    description: 'Requests per minute of one firm. They may all be sent at the same time. 0 means no limit.',
  }),
  RATE_LIMIT_PER_ADDRESS: perMinute()
    .default(defaultQuotas.perAddress)
    .meta({ description: 'The same for one client address. Failed authentications are limited to a twentieth of it.' }),
  CONCURRENT_REQUESTS_PER_FIRM: count().default(defaultConcurrency.requestsPerFirm).meta({
    description: 'Concurrent requests of one firm in each process. Further ones wait up to 5 s. 0 means no limit.',
  }),
  CONCURRENT_REQUESTS: count()
    .default(defaultConcurrency.requests)
    .meta({ description: 'The same for all firms together. Firms that wait take turns.' }),
  CONCURRENT_UPLOADS_PER_FIRM: count().default(defaultConcurrency.uploadsPerFirm).meta({
    description:
      'Concurrent uploads of one firm in each process. Each takes up to 1 MiB of memory. Further ones wait up to 30 s. 0 means no limit.',
  }),
  CONCURRENT_UPLOADS: count()
    .default(defaultConcurrency.uploads)
    .meta({ description: 'The same for all firms together. Firms that wait take turns.' }),
  TRUST_PROXY: listOf(isProxy, 'must be addresses or networks separated by commas, such as 10.0.0.0/8')
    .default([])
    .meta({ description: 'Addresses and networks of proxies whose X-Forwarded-For header is trusted.' }),
  CORS_ORIGINS: listOf(isOrigin, 'must be origins separated by commas, such as https://example.com, or *')
    .default([])
    .meta({ description: 'Origins whose pages may read responses, separated by commas. `*` is any.' }),
  PLATFORM_FIRMS: listOf((each) => Uuid.safeParse(each).success, 'must be uuids of firms, separated by commas')
    .transform((firms) => firms.map((each) => each.toLowerCase()))
    .optional()
    .meta({
      description:
        'The uuids of the firms whose SUPERUSERs and WORKFLOW_ENGINEERs manage the API keys of every firm, separated by commas.',
      defaultText: 'any firm',
    }),
  ...OpenIdVariables.shape,
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
    description:
      'Instead of JWT_SECRET: a PEM file with the public key of tokens signed with RS256, ES256 or EdDSA. During a key change the file contains both keys.',
  }),
  JWT_SECRET_PREVIOUS: z
    .string()
    .refine((secret) => Buffer.byteLength(secret) >= 32, 'must have at least 32 bytes')
    .optional()
    .meta({
      description: 'During a change of JWT_SECRET: the previous secret. Its tokens are still accepted.',
      secret: true,
    }),
  JWT_JWKS_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description:
        "The address of an identity provider's keys (JWKS). Its tokens are accepted too: RS256, ES256 and EdDSA.",
    }),
  JWT_JWKS_ISSUER: z.string().optional().meta({
    description: "The issuer of the identity provider's tokens, required in their `iss` claim.",
    defaultText: 'JWT_ISSUER',
  }),
});

/** The settings of the edge, except those of its tokens. */
export function httpConfigFrom(variables: z.output<typeof HttpVariables>) {
  const quotas: Quotas = {
    perFirm: variables.RATE_LIMIT_PER_FIRM,
    perAddress: variables.RATE_LIMIT_PER_ADDRESS,
  };
  const concurrency: Concurrency = {
    requestsPerFirm: variables.CONCURRENT_REQUESTS_PER_FIRM,
    requests: variables.CONCURRENT_REQUESTS,
    uploadsPerFirm: variables.CONCURRENT_UPLOADS_PER_FIRM,
    uploads: variables.CONCURRENT_UPLOADS,
  };
  return {
    host: variables.HOST,
    port: variables.PORT,
    publicUrl: variables.PUBLIC_URL,
    quotas,
    concurrency,
    trustedProxies: variables.TRUST_PROXY,
    corsOrigins: variables.CORS_ORIGINS,
    platformFirms: variables.PLATFORM_FIRMS,
    openId: openIdFrom(variables),
  };
}

/**
 * Undefined without a secret, a public key and an identity provider. Throws ConfigFault when secret and public key are
 * both set, or when a key is invalid.
 */
export function tokenRulesFrom(variables: z.output<typeof TokenVariables>): TokenRules | undefined {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWT_SECRET: secret, JWT_PUBLIC_KEY_FILE: file } = variables;
  const { JWT_SECRET_PREVIOUS: previous, JWT_JWKS_URL: jwksUrl, JWT_JWKS_ISSUER: jwksIssuer } = variables;
  if (secret !== undefined && file !== undefined) {
    throw new ConfigFault('JWT_SECRET and JWT_PUBLIC_KEY_FILE are both set; set only one of them.');
  }
  if (jwksIssuer !== undefined && jwksUrl === undefined) {
    throw new ConfigFault('JWT_JWKS_ISSUER is set, so JWT_JWKS_URL must be set too.');
  }
  const current: TokenKey[] = secret === undefined ? publicKeysIn(file) : [{ kind: 'secret', secret }];
  if (current.length === 0 && previous === undefined && jwksUrl === undefined) return undefined;
  const [key, ...others] = current;
  const previousKeys: TokenKey[] = [
    ...others,
    ...(previous === undefined ? [] : [{ kind: 'secret' as const, secret: previous }]),
  ];
  return {
    issuer,
    audience,
    key,
    ...(previousKeys.length > 0 && { previousKeys }),
    ...(jwksUrl !== undefined && { identityProvider: { jwksUrl, issuer: jwksIssuer ?? issuer } }),
  };
}

/** More keys than a change needs would make a token with an unknown key expensive. */
const MAX_PUBLIC_KEYS = 5;

function publicKeysIn(file: string | undefined): TokenKey[] {
  if (file === undefined) return [];
  const text = readNamedFile('JWT_PUBLIC_KEY_FILE', file);
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];
  if (blocks.length > MAX_PUBLIC_KEYS) {
    throw new ConfigFault(`JWT_PUBLIC_KEY_FILE names ${file}, which has more than ${MAX_PUBLIC_KEYS} keys.`);
  }
  // Without a block, the reader explains what is wrong with the file.
  return (blocks.length === 0 ? [text] : blocks).map((block) => {
    const key = pemKey('JWT_PUBLIC_KEY_FILE', file, block, createPublicKey);
    return { kind: 'public-key', pem: key.export({ type: 'spki', format: 'pem' }).toString() };
  });
}

/** The key in the file that a variable names. Throws ConfigFault when it cannot be read. */
export function readPem(variable: string, file: string, read: (pem: string) => KeyObject): KeyObject {
  return pemKey(variable, file, readNamedFile(variable, file), read);
}

function pemKey(variable: string, file: string, pem: string, read: (pem: string) => KeyObject): KeyObject {
  try {
    return read(pem);
  } catch {
    throw new ConfigFault(`${variable} names ${file}, which is not such a key in PEM form.`);
  }
}

/** A number of requests. 0 is no limit. */
function count(pattern = /^\d{1,6}$/, unit = '') {
  return z.string().regex(pattern, `must be a whole number${unit}, or 0 for no limit`).transform(Number);
}

function perMinute() {
  return count(/^\d{1,9}$/, ' of requests per minute');
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
