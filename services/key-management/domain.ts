import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { Fault } from '@call-analysis/fault';

export const ROLES = ['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

export interface Firm {
  readonly uuid: string;
  readonly name: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  /** In the order in which they were added. */
  readonly segmentTypes: readonly string[];
}

export interface User {
  readonly uuid: string;
  readonly firmUuid: string;
  readonly name: string;
  readonly role: Role;
  /** The firm's API user, in whose name its API key acts. */
  readonly webApiOnly: boolean;
}

/** Who does a deed, as the audit log names them: a user's uuid or `admin`. */
export interface Actor {
  readonly name: string;
  /** Network address, or `local`. */
  readonly address: string;
}

/** An actor who came through the gateway; the role is the one in their token. */
export interface Caller extends Actor {
  readonly role: string;
}

/** Whoever can run the administrator's command beside the service. */
export const ADMINISTRATOR: Actor = { name: 'admin', address: 'local' };

/** Fault FORBIDDEN, unless the caller has one of the roles. `deed` begins the sentence: "Listing API keys". */
export function requireRole(caller: Caller, allowed: readonly Role[], deed: string): void {
  if (allowed.some((role) => role === caller.role)) return;
  throw new Fault('forbidden', 'FORBIDDEN', `${deed} needs the role ${allowed.join(' or ')}.`);
}

export function noSuch(thing: 'firm' | 'user' | 'API key'): Fault {
  return new Fault('not-found', 'NOT_FOUND', `There is no such ${thing}. Check the uuid.`);
}

export type Pages = { readonly page: number; readonly size: number };

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
// 62^43 is just over 2^256, so 43 digits hold every secret and 42 would not.
const SECRET_DIGITS = 43;
// Far above any key of ours, so that nobody makes us hash a megabyte.
const MAX_KEY_LENGTH = 512;

/** The first 7 characters of the firm's uuid: what may be known of a key. */
export function keyPrefix(firmUuid: string): string {
  return firmUuid.slice(0, 7).toLowerCase();
}

/**
 * A new key for a firm: its prefix, `$`, and 256 random bits written in base 62, leading zeros kept.
 * A number has one spelling of that length, so every key is as likely as any other.
 */
export function makeKey(firmUuid: string): string {
  let rest = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
  let digits = '';
  while (digits.length < SECRET_DIGITS) {
    digits = BASE62.charAt(Number(rest % 62n)) + digits;
    rest /= 62n;
  }
  return `${keyPrefix(firmUuid)}$${digits}`;
}

/**
 * Whether a text could be meant as a key: 7 characters, `$`, something (api.md, section 1), 512 characters at most.
 * Any key of that form that is not ours is unknown, not malformed.
 */
export function looksLikeKey(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && /^.{7}\$./su.test(text);
}

/** What is stored of a key: 32 bytes that say nothing about it to someone without the pepper. */
export type HashKey = (key: string) => Buffer;

/** HMAC-SHA-256 under the pepper. The secret has 256 random bits, so a slow hash would add nothing. */
export function keyHasher(pepper: string): HashKey {
  // A KeyObject is prepared once; a string would be prepared anew at every hash.
  const secret = createSecretKey(pepper, 'utf8');
  return (key) => createHmac('sha256', secret).update(key, 'utf8').digest();
}

/** What an API key turned out to be: an answer, not a failure. */
export type Verdict =
  | { readonly verdict: 'VALID'; readonly keyUuid: string; readonly firmUuid: string; readonly userUuid: string }
  | {
      readonly verdict: 'MALFORMED' | 'UNKNOWN' | 'REVOKED';
      readonly keyUuid?: never;
      readonly firmUuid?: never;
      readonly userUuid?: never;
    };
