import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits, in characters that URLs and cookies carry unchanged. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The stored form of a secret. It has 256 random bits, so a slow or keyed hash would add nothing. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}
