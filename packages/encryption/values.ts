import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { DataKey, DataKeys } from './data-keys.ts';

/**
 * A value of a column, encrypted: three bytes that no raw deflate begins with, the id of the data key (8), a salt (16), the
 * encrypted bytes, a tag (16). `context` is not stored; reading needs the same, so a value does not work in another row.
 */
const PREFIX = Buffer.from([0xff, 0x65, 0x01]);
const ID_AT = PREFIX.length;
const SALT_AT = ID_AT + 8;
const BODY_AT = SALT_AT + 16;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const INFO = 'value';
/** A key encrypts one value, so one nonce is enough. */
const NONCE = Buffer.alloc(12);

/** Begins an encrypted text. No text that the service accepts has this character. */
const TEXT_PREFIX = '\u0001enc:';

export function encryptValue(key: DataKey | null, plain: Buffer, context: string): Buffer {
  if (key === null) return plain;
  const salt = randomBytes(16);
  const cipher = createCipheriv(CIPHER, keyOf(key, salt), NONCE);
  cipher.setAAD(Buffer.from(context));
  const encrypted = cipher.update(plain);
  cipher.final();
  return Buffer.concat([PREFIX, Buffer.from(key.id, 'hex'), salt, encrypted, cipher.getAuthTag()]);
}

/** A value that is not encrypted is returned as it is. Throws when it was changed or belongs to another row. */
export async function decryptValue(keys: DataKeys | null, stored: Buffer, context: string): Promise<Buffer> {
  if (!stored.subarray(0, PREFIX.length).equals(PREFIX)) return stored;
  if (keys === null) throw new Error('A stored value is encrypted, and no ENCRYPTION_KEY_FILE is set.');
  const id = stored.toString('hex', ID_AT, SALT_AT);
  const key = keyOf(keys.known(id) ?? (await keys.find(id)), stored.subarray(SALT_AT, BODY_AT));
  const decipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES));
  return Buffer.concat([decipher.update(stored.subarray(BODY_AT, stored.length - TAG_BYTES)), decipher.final()]);
}

export function encryptText(key: DataKey | null, plain: string, context: string): string {
  return key === null ? plain : TEXT_PREFIX + encryptValue(key, Buffer.from(plain), context).toString('base64');
}

export async function decryptText(keys: DataKeys | null, stored: string, context: string): Promise<string> {
  if (!stored.startsWith(TEXT_PREFIX)) return stored;
  return (await decryptValue(keys, Buffer.from(stored.slice(TEXT_PREFIX.length), 'base64'), context)).toString();
}

function keyOf(key: DataKey, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key.bytes, salt, INFO, 32));
}
