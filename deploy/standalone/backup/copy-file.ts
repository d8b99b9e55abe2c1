import { createHash } from 'node:crypto';
import { mkdir, open, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartFault } from '@call-analysis/runtime';

const READ_BYTES = 1024 * 1024;

/** The copied file, or null if the source is gone. */
type Copied = { readonly sha256: string; readonly bytes: number } | null;

/**
 * Copies a file, or bytes, to a new file that survives a power failure, and digests it on the way. Without a target it
 * is only digested.
 */
export async function copyFile(from: string | Buffer, to: string | null): Promise<Copied> {
  const source = typeof from === 'string' ? await openIfThere(from) : null;
  if (typeof from === 'string' && source === null) return null;
  try {
    if (to !== null) await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    const target = to === null ? null : await open(to, 'wx', 0o600);
    try {
      const hash = createHash('sha256');
      let bytes = 0;
      const pieces = source?.createReadStream({ highWaterMark: READ_BYTES }) ?? [from as Buffer];
      for await (const piece of pieces as AsyncIterable<Buffer> | Iterable<Buffer>) {
        hash.update(piece);
        bytes += piece.length;
        await target?.writeFile(piece);
      }
      await target?.datasync();
      return { sha256: hash.digest('hex'), bytes };
    } finally {
      await target?.close();
    }
  } finally {
    await source?.close();
  }
}

async function openIfThere(path: string) {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Makes a folder. StartFault when it is there and not empty, or cannot be used. */
export async function makeEmpty(directory: string, mode?: number): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode });
    if ((await readdir(directory)).length === 0) return;
  } catch (error) {
    throw new StartFault(`${directory} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
  throw new StartFault(
    `${directory} is not empty, so it may be in use. Name a new or empty folder; nothing is overwritten.`,
  );
}

/** Runs `work` on the values, some at the same time. Rejects with the first failure, once the others have ended. */
export async function concurrently<Value>(
  values: AsyncIterable<Value> | Iterable<Value>,
  limit: number,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const value of values) {
      const each = work(value)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(each));
      running.add(each);
      if (running.size >= limit) await Promise.race(running);
      if (failures.length > 0) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
