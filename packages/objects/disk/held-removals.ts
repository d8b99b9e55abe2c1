import { randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * While a backup copies the files of a store, removed files are moved to a folder instead of deleted: the database of
 * the backup may still name them. A marker, which the backup renews, informs every process that shares the store. It
 * expires by itself, so that a killed backup holds back removals for a minute at most.
 */
const MARKER = '.removals-held';
const HELD = '.held';
const EXPIRES_MS = 60_000;
const RENEWED_EVERY_MS = 5_000;

/** A file of the store, with its path relative to the store's directory. */
interface StoredFile {
  readonly path: string;
  readonly file: string;
}

export type HeldRemovals = NonNullable<Awaited<ReturnType<typeof holdRemovals>>>;

/** Null while another process holds the removals. */
export async function holdRemovals(directory: string) {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const marker = join(directory, MARKER);
  const token = randomUUID();
  if (await areRemovalsHeld(directory)) return null;
  // Two that replace an expired marker at the same time: the second reading decides.
  await writeFile(marker, token);
  if ((await readFile(marker, 'utf8')) !== token) return null;
  let renewedAt = Date.now();
  let lapsed = false;
  const renew = async () => {
    lapsed ||= Date.now() - renewedAt > EXPIRES_MS / 2;
    const now = new Date();
    await utimes(marker, now, now);
    renewedAt = now.getTime();
  };
  const timer = setInterval(() => void renew().catch(() => (lapsed = true)), RENEWED_EVERY_MS);
  timer.unref();
  return {
    /**
     * All files, those whose removal is held last. A file may appear twice, and may be gone when it is opened; then it
     * appears again.
     */
    async *files(): AsyncGenerator<StoredFile> {
      yield* walk(directory, directory);
      yield* walk(join(directory, HELD), join(directory, HELD));
    },
    /** Throws when removals were not held all the time. */
    check(): void {
      if (lapsed || Date.now() - renewedAt > EXPIRES_MS / 2)
        throw new Error('The machine was paused for so long that files may have been removed meanwhile.');
    },
    /** Removes what was held. */
    async release(): Promise<void> {
      clearInterval(timer);
      await rm(marker, { force: true });
      await rm(join(directory, HELD), { recursive: true, force: true });
    },
  };
}

export async function areRemovalsHeld(directory: string): Promise<boolean> {
  const found = await stat(join(directory, MARKER)).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs < EXPIRES_MS;
}

/** Takes a file out of the store, so that only a backup finds it. Throws ENOENT when there is none. */
export async function holdRemoval(directory: string, path: string): Promise<void> {
  const held = join(directory, HELD, relative(directory, path));
  for (let triesLeft = 10; ; triesLeft -= 1) {
    // Distinguishes a missing file from a missing folder.
    await (await open(path, 'r')).close();
    await mkdir(dirname(held), { recursive: true, mode: 0o700 });
    try {
      return await rename(path, held);
    } catch (error) {
      // The backup may have ended and removed the folder.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || triesLeft === 0) throw error;
    }
  }
}

/** Removes held files once no backup needs them. Returns whether some may be left. */
export async function removeHeld(directory: string): Promise<boolean> {
  if (await areRemovalsHeld(directory)) return true;
  await rm(join(directory, HELD), { recursive: true, force: true });
  return false;
}

async function* walk(root: string, folder: string): AsyncGenerator<StoredFile> {
  const entries = await opendir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (entries === null) return;
  for await (const entry of entries) {
    // The store's own files; no encoded key begins with a dot, but a later piece of a long name may.
    if (folder === root && entry.name.startsWith('.')) continue;
    const file = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(root, file);
    else yield { path: relative(root, file).replaceAll('\\', '/'), file };
  }
}
