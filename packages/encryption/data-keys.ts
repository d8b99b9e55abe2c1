import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { EncryptionKeys } from './key-file.ts';

/**
 * A key that encrypts bytes. It is stored encrypted by a key of the key file, so that changing the latter rewrites
 * little.
 */
export interface DataKey {
  /** 8 random bytes in hex. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** Keeps documents under names. A write is atomic. */
interface DataKeyStore {
  list(): AsyncIterable<string>;
  read(name: string): Promise<string>;
  write(name: string, document: string): Promise<void>;
}

/** The key file is not the one that the stored data needs. The message says what to do. */
export class WrongKey extends Error {
  override readonly name = 'WrongKey';
}

const Wrapped = z.object({
  /** The id of the key that encrypts the data key. */
  key: z.string(),
  nonce: z.base64(),
  encrypted: z.base64(),
  tag: z.base64(),
  created_at: z.iso.datetime(),
});
type Wrapped = z.infer<typeof Wrapped>;

const ID_BYTES = 8;
const CIPHER = 'aes-256-gcm';

/** The data keys of an object store, which every process that shares the store may add to and reads. */
export class DataKeys {
  readonly #keys: EncryptionKeys;
  readonly #store: DataKeyStore;
  readonly #known = new Map<string, DataKey>();
  #current: DataKey | undefined;
  #loading: Promise<void> | undefined;

  constructor(keys: EncryptionKeys, store: DataKeyStore) {
    this.#keys = keys;
    this.#store = store;
  }

  /** The key for new data; the first process makes it. WrongKey, or the fault of a store that does not answer. */
  async current(): Promise<DataKey> {
    if (this.#current === undefined) await this.#load();
    return this.#current!;
  }

  /** As `current`, when it is known already. */
  currentNow(): DataKey | undefined {
    return this.#current;
  }

  /** The key with this id. WrongKey when there is none. */
  async find(id: string): Promise<DataKey> {
    // Another process may have made it since.
    if (!this.#known.has(id)) await this.#load();
    const found = this.#known.get(id);
    if (found === undefined)
      throw new WrongKey(`The data key ${id} is missing. Restore encryption/${id} from a backup of the object store.`);
    return found;
  }

  /** As `find`, when it is known already. */
  known(id: string): DataKey | undefined {
    return this.#known.get(id);
  }

  /** How many data keys each key of the key file encrypts. */
  async status(): Promise<{ current: string; data_keys: { id: string; key: string; created_at: string }[] }> {
    const found = [];
    for await (const [id, { key, created_at }] of this.#wrapped()) found.push({ id, key, created_at });
    return { current: this.#keys.current, data_keys: found.sort((a, b) => (a.id < b.id ? -1 : 1)) };
  }

  /** Encrypts every data key with the current key. Returns how many were encrypted by another. */
  async rotate(): Promise<number> {
    let rotated = 0;
    for await (const [id, wrapped] of this.#wrapped()) {
      if (wrapped.key === this.#keys.current) continue;
      await this.#write(this.#unwrap(id, wrapped), wrapped.created_at);
      rotated += 1;
    }
    return rotated;
  }

  #load(): Promise<void> {
    this.#loading ??= this.#loadNow().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadNow(): Promise<void> {
    for await (const [id, wrapped] of this.#wrapped()) {
      if (!this.#known.has(id)) this.#known.set(id, this.#unwrap(id, wrapped));
    }
    if (this.#known.size === 0) {
      const made = { id: randomBytes(ID_BYTES).toString('hex'), bytes: randomBytes(32) };
      await this.#write(made, new Date().toISOString());
      this.#known.set(made.id, made);
    }
    // The same one in every process, once all of them have seen all.
    const [first] = [...this.#known.keys()].sort();
    this.#current ??= this.#known.get(first!);
  }

  async *#wrapped(): AsyncGenerator<[id: string, wrapped: Wrapped]> {
    for await (const id of this.#store.list()) yield [id, Wrapped.parse(JSON.parse(await this.#store.read(id)))];
  }

  async #write({ id, bytes }: DataKey, createdAt: string): Promise<void> {
    const nonce = randomBytes(12);
    const cipher = createCipheriv(CIPHER, this.#keys.byId.get(this.#keys.current)!, nonce);
    cipher.setAAD(Buffer.from(id));
    const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
    const wrapped = {
      key: this.#keys.current,
      nonce: nonce.toString('base64'),
      encrypted: encrypted.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
      created_at: createdAt,
    } satisfies Wrapped;
    await this.#store.write(id, JSON.stringify(wrapped));
  }

  #unwrap(id: string, { key, nonce, encrypted, tag }: Wrapped): DataKey {
    const found = this.#keys.byId.get(key);
    if (found === undefined) {
      throw new WrongKey(
        `The stored data is encrypted with the key "${key}", which the key file does not have. Add its line to the file that ENCRYPTION_KEY_FILE names.`,
      );
    }
    const bytesOf = (text: string) => Buffer.from(text, 'base64');
    try {
      const decipher = createDecipheriv(CIPHER, found, bytesOf(nonce), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(id));
      decipher.setAuthTag(bytesOf(tag));
      return { id, bytes: Buffer.concat([decipher.update(bytesOf(encrypted)), decipher.final()]) };
    } catch (cause) {
      throw new WrongKey(
        `The key "${key}" of the key file is not the one that the stored data was encrypted with. Put the right one into the file that ENCRYPTION_KEY_FILE names.`,
        { cause },
      );
    }
  }
}
