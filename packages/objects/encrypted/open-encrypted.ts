import { createHash, hkdfSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DataKeys, type EncryptionKeys, WrongKey } from '@call-analysis/encryption';
import { Fault } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import { type SignedUrls, UrlSigner } from '../disk/signed-urls.ts';
import type { Objects } from '../port.ts';
import { EncryptedObjects } from './encrypted.ts';

/** Holds the data keys, encrypted by the key file. Uploads have keys of other folders. */
const FOLDER = 'encryption/';

export function dataKeysOf(store: Objects, keys: EncryptionKeys): DataKeys {
  return new DataKeys(keys, {
    async *list() {
      for await (const { key } of store.list(FOLDER)) yield key.slice(FOLDER.length);
    },
    read: async (name) => text(await store.open(FOLDER + name)),
    write: async (name, document) => {
      await store.put(FOLDER + name, Readable.from([document]));
    },
  });
}

/**
 * The store with its objects encrypted. StartFault when the key file is not the one that the stored data needs, as far as
 * the store answers.
 */
export async function openEncrypted(
  store: Objects & SignedUrls,
  keys: EncryptionKeys,
  servesUrls: boolean,
): Promise<{ objects: Objects & SignedUrls; dataKeys: DataKeys }> {
  const dataKeys = dataKeysOf(store, keys);
  try {
    await dataKeys.current();
  } catch (error) {
    if (error instanceof WrongKey) throw new StartFault(error.message, { cause: error });
    if (!(error instanceof Fault && error.kind === 'unavailable')) throw error;
  }
  return { objects: new EncryptedObjects(store, dataKeys, servesUrls ? store : gatewayUrls(keys)), dataKeys };
}

/** StartFault when the store has data keys and no key file is set: encrypted objects would be served as they are. */
export async function requirePlain(store: Objects): Promise<void> {
  try {
    for await (const _ of store.list(FOLDER)) {
      throw new StartFault(
        'The stored data is encrypted, and no key is set. Set ENCRYPTION_KEY_FILE to the file with the keys.',
      );
    }
  } catch (error) {
    if (!(error instanceof Fault && error.kind === 'unavailable')) throw error;
  }
}

/** URLs that every process with the key file can sign and check. */
function gatewayUrls({ current, byId }: EncryptionKeys): SignedUrls & Pick<Objects, 'presignGet' | 'presignPut'> {
  const secret = (id: string) => {
    const bytes = byId.get(id)!.export();
    return Buffer.from(hkdfSync('sha256', bytes, createHash('sha256').update(id).digest(), 'object URLs', 32)).toString(
      'hex',
    );
  };
  const others = [...byId.keys()].filter((id) => id !== current).map(secret);
  const signer = new UrlSigner(secret(current), ...others);
  return {
    verify: signer.verify.bind(signer),
    presignPut: async (key, { expiresInSeconds, maxBytes }) => signer.sign('PUT', key, expiresInSeconds, maxBytes),
    presignGet: async (key, { expiresInSeconds }) => signer.sign('GET', key, expiresInSeconds, 0),
  };
}
