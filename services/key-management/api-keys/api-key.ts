import { createHmac, createSecretKey, randomBytes } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
// 62^43 is just over 2^256, so every secret fits in 43 digits but not in 42.
const SECRET_DIGITS = 43;

/** The first 7 characters of the firm's uuid: the only part of a key that is not secret. */
export function keyPrefix(firmUuid: string): string {
  return firmUuid.slice(0, 7).toLowerCase();
}

/**
 * A new key for a firm: its prefix, `$`, and 256 random bits in base 62 with leading zeros. A number has exactly one form
 * of that length, so every key is equally likely.
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

/** Computes the stored form of a key: 32 bytes that reveal nothing about the key without the pepper. */
export type HashKey = (key: string) => Buffer;

/** HMAC-SHA-256 with the pepper as its key. An API key has 256 random bits, so a slow hash would add nothing. */
export function keyHasher(pepper: string): HashKey {
  // A KeyObject is prepared once, a string for every hash.
  const secret = createSecretKey(pepper, 'utf8');
  return (key) => createHmac('sha256', secret).update(key, 'utf8').digest();
}
