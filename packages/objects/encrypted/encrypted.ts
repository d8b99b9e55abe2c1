import { createHash, hkdfSync } from 'node:crypto';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import {
  BlockEncryption,
  DataKeys,
  decryptBlocks,
  type EncryptionKeys,
  HEADER_BYTES,
  isEncrypted,
  plainSize,
  rangeOfBlocks,
  WrongKey,
} from '@call-analysis/encryption';
import { Fault } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import { type GatewayUrls, type SignedUrls, urlSigner } from '../disk/signed-urls.ts';
import { keyParts, type Objects, requireRange } from '../port.ts';

/** An object that is replaced again and again between two reads of it. */
const TRIES = 5;
const READ_BYTES = 256 * 1024;

/**
 * A store whose objects are encrypted, in a store of any kind. Objects from before are read as they are; a copy of one
 * is encrypted. Presigned URLs are `urls`', which the gateway serves: a store cannot encrypt by itself.
 */
function encryptedObjects(inner: Objects, dataKeys: DataKeys, urls: GatewayUrls): Objects & SignedUrls {
  /** Null for an object that is not encrypted. */
  async function headerOf(key: string): Promise<Buffer | null> {
    const header = await buffer(await inner.open(key, { start: 0, end: HEADER_BYTES - 1 }));
    return isEncrypted(header) ? header : null;
  }

  async function openWhole(key: string): Promise<Readable> {
    const { bytes, header } = await openStored(key);
    return header === null ? bytes : readable(bytes, decryptBlocks(dataKeys, header, bytes));
  }

  async function openRange(key: string, header: Buffer, { start, end }: { start: number; end?: number }) {
    const { firstBlock, skip, stored } = rangeOfBlocks({ start, end });
    const bytes = await inner.open(key, stored);
    const wanted = end === undefined ? {} : { bytes: end - start + 1 };
    const decrypted = decryptBlocks(dataKeys, header, bytes, { firstBlock, skip, ...wanted });
    try {
      // A wrong header is found before the caller gets a byte.
      const first = await decrypted.next();
      if (first.done === true) {
        bytes.destroy();
        return Readable.from([]);
      }
      return readable(bytes, prepend(first.value, decrypted));
    } catch (error) {
      bytes.destroy();
      throw error;
    }
  }

  /** The stored bytes of one version: after the header if there is one. */
  async function openStored(key: string): Promise<{ bytes: Readable; header: Buffer | null }> {
    const stored = await inner.open(key);
    const held: Buffer[] = [];
    let heldBytes = 0;
    const pieces = stored[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    while (heldBytes < HEADER_BYTES) {
      const next = await pieces.next();
      if (next.done === true) break;
      held.push(next.value);
      heldBytes += next.value.length;
    }
    const head = Buffer.concat(held);
    const header = isEncrypted(head) ? head.subarray(0, HEADER_BYTES) : null;
    const rest = header === null ? head : head.subarray(HEADER_BYTES);
    return { bytes: readable(stored, prepend(rest, { [Symbol.asyncIterator]: () => pieces })), header };
  }

  const objects: Objects = {
    async ready() {
      await inner.ready();
      await dataKeys.current();
    },
    async put(key, bytes, { maxBytes } = {}) {
      try {
        keyParts(key);
        const encryption = new BlockEncryption(await dataKeys.current(), maxBytes);
        // Errors of either stream reach the other; the store's put rejects with them.
        pipeline(bytes, encryption, () => {});
        await inner.put(key, encryption);
        return { sizeBytes: encryption.sizeBytes };
      } finally {
        bytes.destroy();
      }
    },
    async open(key, range) {
      if (range === undefined) return openWhole(key);
      requireRange(range);
      for (let tried = 1; ; tried += 1) {
        const header = await headerOf(key);
        if (header === null) return inner.open(key, range);
        try {
          return await openRange(key, header, range);
        } catch (error) {
          // The object was replaced between the two reads.
          const isReplaced = !(await headerOf(key))?.equals(header);
          if (!isReplaced || tried === TRIES) throw error;
        }
      }
    },
    async head(key) {
      const found = await inner.head(key);
      if (found === null || found.sizeBytes < HEADER_BYTES) return found;
      try {
        return (await headerOf(key)) === null ? found : { ...found, sizeBytes: plainSize(found.sizeBytes) };
      } catch (error) {
        if ((error as { code?: unknown }).code === 'NOT_FOUND') return null;
        throw error;
      }
    },
    async copy(from, to) {
      keyParts(to);
      if ((await headerOf(from)) !== null) return inner.copy(from, to);
      // A read returns the bytes of one version, even if another is put in the meantime.
      const { bytes, header } = await openStored(from);
      await (header === null ? objects.put(to, bytes) : inner.put(to, bytes));
    },
    remove: (key) => inner.remove(key),
    list: (prefix) => inner.list(prefix),
    expire: (prefix, afterDays) => inner.expire(prefix, afterDays),
    presignPut: urls.presignPut,
    presignGet: urls.presignGet,
  };
  return { ...objects, verify: urls.verify };
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  yield* rest;
}

/** Destroying it destroys the source, also while the source is silent. */
function readable(source: Readable, pieces: AsyncIterable<Buffer>): Readable {
  const output = new PassThrough({ highWaterMark: READ_BYTES });
  // It may fail before it is read; the reader gets the error later.
  output.on('error', () => {});
  output.once('close', () => source.destroy());
  pipeline(Readable.from(pieces, { objectMode: false, highWaterMark: READ_BYTES }), output, () => {});
  return output;
}

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
  return { objects: encryptedObjects(store, dataKeys, servesUrls ? store : gatewayUrls(keys)), dataKeys };
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
function gatewayUrls({ current, byId }: EncryptionKeys): GatewayUrls {
  const secret = (id: string) => {
    const bytes = byId.get(id)!.export();
    return Buffer.from(hkdfSync('sha256', bytes, createHash('sha256').update(id).digest(), 'object URLs', 32)).toString(
      'hex',
    );
  };
  const others = [...byId.keys()].filter((id) => id !== current).map(secret);
  return urlSigner(secret(current), ...others);
}
