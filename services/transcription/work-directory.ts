import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Fault } from '@call-analysis/fault';
import { isAlive } from '@call-analysis/runtime';

const PREFIX = 'hearing';
/** Names that begin like this are of this process: the next start knows by them what one that was killed has left behind. */
export const OURS = `${PREFIX}-${process.pid}-`;
/** Of this process; others may share the directory. */
const mine = new Set<string>();

/** Where recordings lie while they are heard, readable by nobody else. */
export interface WorkDirectory {
  /** For what is made once and kept. */
  readonly path: string;
  /** Puts the bytes into a file for as long as `work` takes. Fault WORK_DIRECTORY_FULL of kind unavailable. */
  withFile<Result>(bytes: Readable, work: (file: string) => Promise<Result>): Promise<Result>;
  /** Removes what is left. */
  close(): Promise<void>;
}

/** Removes first what processes that were killed have left there. */
export async function openWorkDirectory(path: string): Promise<WorkDirectory> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await removeLeftovers(path);
  const name = OURS + randomUUID();
  const own = join(path, name);
  mine.add(name);
  await mkdir(own, { mode: 0o700 });
  return {
    path,
    async withFile(bytes, work) {
      const file = join(own, randomUUID());
      try {
        await pipeline(bytes, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
        return await work(file);
      } catch (error) {
        throw isFull(error)
          ? new Fault('unavailable', 'WORK_DIRECTORY_FULL', 'There is no room on the disk to hear a recording.', {
              cause: error,
            })
          : error;
      } finally {
        await rm(file, { force: true });
      }
    },
    async close() {
      await rm(own, { recursive: true, force: true });
      mine.delete(name);
    },
  };
}

async function removeLeftovers(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    const pid = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || mine.has(name) || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    await rm(join(path, name), { recursive: true, force: true });
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
