import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { unavailable } from '@call-analysis/fault';
import type { DataKey, DataKeys } from './data-keys.ts';

/**
 * An encrypted value of a column: three bytes that no raw deflate begins with, the id of the data key (8), a salt (16),
 * a number (6), the encrypted bytes, a tag (16). A text is base64 of that after TEXT_PREFIX. A process derives a key of
 * its own by a random salt and numbers its values, so no nonce comes twice; deriving a key for each value took 30 µs.
 */
const PREFIX = Buffer.from([0xff, 0x65, 0x01]);
const ID_AT = PREFIX.length;
const SALT_AT = ID_AT + 8;
const NUMBER_AT = SALT_AT + 16;
const BODY_AT = NUMBER_AT + 6;
const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const CIPHER = 'aes-256-gcm';
const INFO = 'value';
/** A key encrypts no more values than this. AES-GCM would allow 2^32. */
const VALUES_OF_A_KEY = 2 ** 28;
/** Derived keys that are kept, of one process run each. */
const KEYS_KEPT = 1000;

/** Begins an encrypted text. No text that the service accepts begins with this character. */
const TEXT_PREFIX = '\u0001enc:';

/**
 * Encrypts and decrypts values of columns. Values that are not encrypted are returned as they are. Works without
 * waiting, so a data key that another process made a moment ago, or a store that has not answered yet, is Fault
 * UNAVAILABLE until it has been read.
 */
export class ValueCipher {
  readonly #keys: DataKeys;
  readonly #derived = new Map<string, KeyObject>();
  #own: { readonly head: Buffer; readonly key: KeyObject; used: number } | undefined;

  constructor(keys: DataKeys) {
    this.#keys = keys;
  }

  encrypt(plain: Buffer): Buffer {
    const { head, key, number } = this.#next();
    const stored = Buffer.allocUnsafe(BODY_AT + plain.length + TAG_BYTES);
    head.copy(stored);
    stored.writeUIntBE(number, NUMBER_AT, 6);
    const cipher = createCipheriv(CIPHER, key, nonceOf(stored));
    cipher.update(plain).copy(stored, BODY_AT);
    cipher.final();
    cipher.getAuthTag().copy(stored, BODY_AT + plain.length);
    return stored;
  }

  /** Throws when the bytes were changed. */
  decrypt(stored: Buffer): Buffer {
    if (stored[0] !== PREFIX[0] || !stored.subarray(0, PREFIX.length).equals(PREFIX)) return stored;
    const decipher = createDecipheriv(CIPHER, this.#keyOf(stored), nonceOf(stored), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES));
    const plain = decipher.update(stored.subarray(BODY_AT, stored.length - TAG_BYTES));
    decipher.final();
    return plain;
  }

  encryptText(plain: string): string {
    return TEXT_PREFIX + this.encrypt(Buffer.from(plain)).toString('base64');
  }

  decryptText(stored: string): string {
    if (stored.charCodeAt(0) !== 1 || !stored.startsWith(TEXT_PREFIX)) return stored;
    return this.decrypt(Buffer.from(stored.slice(TEXT_PREFIX.length), 'base64')).toString();
  }

  #next(): { head: Buffer; key: KeyObject; number: number } {
    if (this.#own === undefined || this.#own.used === VALUES_OF_A_KEY) {
      const dataKey = this.#keys.currentNow() ?? this.#later(() => this.#keys.current());
      const salt = randomBytes(NUMBER_AT - SALT_AT);
      const head = Buffer.concat([PREFIX, Buffer.from(dataKey.id, 'hex'), salt]);
      this.#own = { head, key: derive(dataKey, salt), used: 0 };
    }
    const own = this.#own;
    own.used += 1;
    return { head: own.head, key: own.key, number: own.used };
  }

  #keyOf(stored: Buffer): KeyObject {
    const name = stored.toString('latin1', ID_AT, NUMBER_AT);
    const kept = this.#derived.get(name);
    if (kept !== undefined) return kept;
    const id = stored.toString('hex', ID_AT, SALT_AT);
    const dataKey = this.#keys.known(id) ?? this.#later(() => this.#keys.find(id));
    const key = derive(dataKey, stored.subarray(SALT_AT, NUMBER_AT));
    if (this.#derived.size >= KEYS_KEPT) this.#derived.clear();
    this.#derived.set(name, key);
    return key;
  }

  #later(load: () => Promise<DataKey>): never {
    load().catch(() => {});
    throw unavailable('The key of the stored data');
  }
}

function derive(key: DataKey, salt: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key.bytes, salt, INFO, 32)));
}

function nonceOf(stored: Buffer): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  stored.copy(nonce, 0, NUMBER_AT, BODY_AT);
  return nonce;
}
