import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Fault } from '@call-analysis/fault';
import { isAlive, isDiskFull } from '@call-analysis/runtime';

/** Part of names on disk: with another one, the leftovers of earlier releases would never be removed. */
const PREFIX = 'hearing';
/** Begins the names of this process's folders, so that the next start can remove them if this process is killed. */
export const PROCESS_PREFIX = `${PREFIX}-${process.pid}-`;
/** Folders that are in use by this process; other processes may share the directory. */
const inUse = new Set<string>();

/** Temporary files for recordings while they are transcribed, readable by this user only. */
export interface WorkDirectory {
  /** For files that are created once and kept. */
  readonly path: string;
  /** Stores the bytes in a file while `work` runs. Fault WORK_DIRECTORY_FULL of kind unavailable. */
  withFile<Result>(bytes: Readable, work: (file: string) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** First removes the files of processes that were killed. */
export async function openWorkDirectory(path: string): Promise<WorkDirectory> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await removeLeftovers(path);
  const name = PROCESS_PREFIX + randomUUID();
  const folder = join(path, name);
  inUse.add(name);
  await mkdir(folder, { mode: 0o700 });
  return {
    path,
    async withFile(bytes, work) {
      const file = join(folder, randomUUID());
      try {
        await pipeline(bytes, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
        return await work(file);
      } catch (error) {
        throw isDiskFull(error)
          ? new Fault('unavailable', 'WORK_DIRECTORY_FULL', 'The disk is too full to transcribe a recording.', {
              cause: error,
            })
          : error;
      } finally {
        await rm(file, { force: true });
      }
    },
    async close() {
      await rm(folder, { recursive: true, force: true });
      inUse.delete(name);
    },
  };
}

async function removeLeftovers(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    const pid = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || inUse.has(name) || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    await rm(join(path, name), { recursive: true, force: true });
  }
}
