import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** A new secret, as it is shown to the firm. */
export function newSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** A secret as a key. Importing one costs more than signing with it. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'));
}

/** The header `webhook-signature` of Standard Webhooks 1.0, with one signature for each key. */
export function signatures(keys: readonly KeyObject[], id: string, seconds: number, body: string): string {
  const signed = `${id}.${seconds}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' ');
}
