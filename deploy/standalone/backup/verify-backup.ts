import { join, resolve } from 'node:path';
import { StartFault } from '@call-analysis/runtime';
import { concurrently } from './concurrently.ts';
import { copyFile } from './copy-file.ts';
import { readDigests, readManifest } from './manifest.ts';
import type { Progress } from './progress.ts';

const CONCURRENCY = 4;
/** Damaged files that are named. */
const NAMED = 10;

/** Reads every file of a backup. StartFault when the backup is not complete, or a file is missing or damaged. */
export async function verifyBackup(target: string, progress: Progress) {
  const directory = resolve(target);
  const manifest = await readManifest(directory);
  const damaged: string[] = [];
  let files = 0;
  progress.step('verify');
  await concurrently(readDigests(directory), CONCURRENCY, async ({ path, sha256 }) => {
    files += 1;
    const read = await copyFile(join(directory, path), null);
    progress.add(read?.bytes ?? 0);
    if (read?.sha256 !== sha256) damaged.push(path);
  });
  progress.end();
  if (damaged.length > 0 || files !== manifest.files) {
    const named = damaged.slice(0, NAMED).join(', ');
    const rest = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : '';
    throw new StartFault(`${directory} is damaged. Missing or changed: ${named}${rest}.`);
  }
  const { version, started_at, finished_at, calls, objects, bytes } = manifest;
  return { directory, valid: true, version, started_at, finished_at, calls, objects, files, bytes };
}
