import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Fault, unavailable } from '@call-analysis/fault';
import { isDiskFull, syncFolder } from '@call-analysis/runtime';
import { keyParts, type Objects, prefixParts, missing, requireRange, tooManyBytes } from '../port.ts';
import { decodeKey, filePath, folderPath, readName } from './file-names.ts';
import { areRemovalsHeld, holdRemoval, removeHeld } from './held-removals.ts';
import { type SignedUrls, urlSigner } from './signed-urls.ts';

/** Holds files that are being written. No key can name it, because an encoded part never begins with a dot. */
const INCOMING = '.incoming';
/** Longer than a client may pause, so the writer of a file that was not touched for this long is gone. */
const STALE_AFTER_MS = 3_600_000;
/** Bytes per read. Four times the default halves the time for a large file. */
const READ_BYTES = 256 * 1024;
const HELD_CHECKED_EVERY_MS = 30_000;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Objects in a directory of the local file system. Several processes may share the directory.
 * Signed URLs are paths that the gateway serves.
 */
export async function openDisk(options: {
  directory: string;
  secret: string;
  previousSecret?: string | undefined;
}): Promise<Objects & SignedUrls> {
  const root = resolve(options.directory);
  const previous = options.previousSecret === undefined ? [] : [options.previousSecret];
  const { presignPut, presignGet, verify } = urlSigner(options.secret, ...previous);
  let hasHeld = false;
  await mkdir(join(root, INCOMING), { recursive: true, mode: FOLDER_MODE });
  await removeStale(join(root, INCOMING));
  await removeHeldLater();

  async function ready(): Promise<void> {
    try {
      await access(join(root, INCOMING), constants.W_OK | constants.X_OK);
    } catch (error) {
      throw unavailable('The object store', error);
    }
  }

  /** The Fault for an object that is not there. Fault UNAVAILABLE when no object is, because the directory is away. */
  async function missingObject(): Promise<Fault> {
    await ready();
    return missing();
  }

  function pathOf(key: string): string {
    return join(root, ...filePath(keyParts(key)));
  }

  /** Writes a hidden file and renames it in one step. A failure leaves no file. */
  async function create<Result>(target: string, make: (incoming: string) => Promise<Result>): Promise<Result> {
    const incoming = join(root, INCOMING, randomUUID());
    try {
      const result = await make(incoming);
      await name(incoming, target).catch(explain);
      return result;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') await ready();
      throw error;
    } finally {
      // Needed after success too: renaming a file to another hard link of itself does nothing.
      await rm(incoming, { force: true });
    }
  }

  async function name(incoming: string, target: string): Promise<void> {
    const folder = dirname(target);
    for (let triesLeft = 10; ; triesLeft -= 1) {
      try {
        await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
        await rename(incoming, target);
      } catch (error) {
        // A concurrent remove may have deleted the folder, or one above it, while it was empty.
        if (codeOf(error) === 'ENOENT' && triesLeft > 0) continue;
        throw error;
      }
      // All folders above too: another put may have created one and not yet synced it.
      for (let each = folder; each !== dirname(root); each = dirname(each)) await sync(each);
      return;
    }
  }

  /** Files that a backup holds are removed here when its process did not live to do so. */
  async function removeHeldLater(): Promise<void> {
    if (hasHeld) return;
    hasHeld = await removeHeld(root);
    if (!hasHeld) return;
    const timer = setInterval(async () => {
      hasHeld = await removeHeld(root).catch(() => true);
      if (!hasHeld) clearInterval(timer);
    }, HELD_CHECKED_EVERY_MS);
    timer.unref();
  }

  return {
    ready,
    async put(key, bytes, { maxBytes = Infinity } = {}) {
      try {
        return await create(pathOf(key), async (incoming) => {
          const file = await open(incoming, 'wx', FILE_MODE).catch(explain);
          try {
            const sizeBytes = await write(file, bytes, maxBytes);
            await file.sync().catch(explain);
            return { sizeBytes };
          } finally {
            await file.close();
          }
        });
      } finally {
        bytes.destroy();
      }
    },
    async open(key, range) {
      requireRange(range);
      const file = await unlessMissing(open(pathOf(key), 'r'));
      if (!file) throw await missingObject();
      return file.createReadStream({ ...range, highWaterMark: READ_BYTES });
    },
    async head(key) {
      const found = await unlessMissing(stat(pathOf(key)));
      if (found === null) await ready();
      return found && { sizeBytes: found.size, modifiedAt: found.mtime };
    },
    /** A put always creates a new file, so a hard link to this one keeps its bytes. */
    async copy(from, to) {
      const source = pathOf(from);
      await create(pathOf(to), async (incoming) => {
        try {
          await link(source, incoming);
        } catch (error) {
          if (codeOf(error) === 'ENOENT') throw await missingObject();
          await copyBytes(source, incoming);
        }
      });
    },
    async remove(key) {
      const path = pathOf(key);
      const isHeld = await areRemovalsHeld(root);
      const removing = isHeld ? holdRemoval(root, path) : unlink(path);
      // While the directory is away, for example not mounted, nothing is known to be removed.
      if ((await unlessMissing(removing.then(() => true))) === null) return ready();
      if (isHeld) await removeHeldLater();
      await sync(dirname(path));
      for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
        try {
          await rmdir(folder);
        } catch {
          return;
        }
      }
    },
    async *list(prefix) {
      const names = folderPath(prefixParts(prefix));
      await ready();
      yield* walk(join(root, ...names), names.map(readName).join(''));
    },
    async expire(prefix) {
      prefixParts(prefix);
      return false;
    },
    presignPut,
    presignGet,
    verify,
  };
}

/** Chunks are written together, because each write costs a round trip to the thread pool. */
const WRITE_BYTES = 1024 * 1024;
/** A long file is synced after this many bytes while more arrive, so that little remains to be synced at the end. */
const SYNC_BYTES = 16 * 1024 * 1024;

/** Writes one batch of chunks while the next arrives, and holds at most two batches in memory. */
async function write(file: FileHandle, bytes: Readable, maxBytes: number): Promise<number> {
  let sizeBytes = 0;
  let batch: Buffer[] = [];
  let batchBytes = 0;
  let unsynced = 0;
  let writing: Promise<void> = Promise.resolve();
  let syncing: Promise<void> = Promise.resolve();
  const flush = async () => {
    const pieces = batch;
    unsynced += batchBytes;
    batch = [];
    batchBytes = 0;
    await writing;
    writing = writeAll(file, pieces);
    writing.catch(() => {});
    if (unsynced < SYNC_BYTES) return;
    unsynced = 0;
    syncing = syncing.then(() => file.datasync());
    syncing.catch(() => {});
  };
  try {
    for await (const piece of bytes as AsyncIterable<Buffer | string>) {
      const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw tooManyBytes(maxBytes);
      batch.push(chunk);
      batchBytes += chunk.length;
      if (batchBytes >= WRITE_BYTES) await flush();
    }
    await flush();
  } finally {
    // The caller closes the file next.
    await Promise.allSettled([writing, syncing]);
  }
  await Promise.all([writing, syncing]).catch(explain);
  return sizeBytes;
}

async function writeAll(file: FileHandle, pieces: Buffer[]): Promise<void> {
  const { bytesWritten } = await file.writev(pieces);
  const all = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // A full disk accepts a part first; the next write fails.
  if (bytesWritten < all) await file.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
}

async function copyBytes(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL).catch(explain);
  const file = await open(target, 'r+').catch(explain);
  try {
    await file.sync().catch(explain);
  } finally {
    await file.close();
  }
}

async function sync(folder: string): Promise<void> {
  await unlessMissing(syncFolder(folder));
}

/**
 * Removes folders without entries, which a process left that was killed while it removed the last object of a folder. A
 * put whose folder goes creates it again. Returns whether the folder is gone.
 */
async function* walk(folder: string, encoded: string): AsyncGenerator<{ key: string; modifiedAt: Date }, boolean> {
  const entries = await unlessMissing(opendir(folder));
  if (!entries) return true;
  let isEmpty = true;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    const read = encoded + readName(entry.name);
    if (entry.isDirectory()) {
      if (!(yield* walk(path, read))) isEmpty = false;
      continue;
    }
    isEmpty = false;
    const found = await unlessMissing(stat(path));
    if (found) yield { key: decodeKey(read), modifiedAt: found.mtime };
  }
  if (!isEmpty) return false;
  return rmdir(folder).then(
    () => true,
    () => false,
  );
}

async function removeStale(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    // Creating a link sets the change time but not the modification time.
    const found = await unlessMissing(stat(path));
    if (found && Date.now() - found.ctimeMs > STALE_AFTER_MS) await rm(path, { force: true });
  }
}

async function unlessMissing<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    return explain(error);
  }
}

/** What a disk or a network file system answers that is away. */
const AWAY = new Set(['EIO', 'ENODEV', 'ENOTCONN', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'EHOSTUNREACH']);

function explain(error: unknown): never {
  const code = codeOf(error);
  if (AWAY.has(String(code))) throw unavailable('The object store', error);
  if (isDiskFull(error)) {
    throw new Fault('unavailable', 'INSUFFICIENT_STORAGE', 'The disk is full. Free some space, then try again.', {
      cause: error,
    });
  }
  throw error;
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
