import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { StartFault } from '@call-analysis/runtime';
import { z } from 'zod';

const Secrets = z.object({
  jwtSecret: z.string(),
  apiKeyPepper: z.string(),
  /** Signs the presigned URLs of the disk store. */
  urlSecret: z.string(),
  /** While it is changed: the one before. */
  previousUrlSecret: z.string().optional(),
  /** The password of every service's database role. */
  databasePassword: z.string(),
});
export type Secrets = z.infer<typeof Secrets>;

export type DataDirectory = ReturnType<typeof openDataDirectory>;

/** Holds what a restore has copied so far. */
export const RESTORING = '.restoring';

/** Opens the data directory. The first time, creates it and its secrets. */
export function openDataDirectory(path: string) {
  try {
    createFolder(path);
    if (statSync(join(path, RESTORING), { throwIfNoEntry: false }) !== undefined) {
      throw new StartFault(`${path} was not restored completely. Remove it and restore the backup again.`);
    }
    const sockets = socketDirectory(path);
    return {
      path,
      secrets: secretsIn(path),
      postgres: join(path, 'postgres'),
      objects: join(path, 'objects'),
      /** For recordings while they are transcribed. */
      work: join(path, 'work'),
      /** For speech models, unless SPEECH_MODEL_DIR names another folder. */
      models: join(path, 'models'),
      /** The address at which a service serves its RPCs. Only this user can connect to it. */
      socket: (service: string) => `unix:${join(sockets, `${service}.sock`)}`,
    };
  } catch (error) {
    if (error instanceof StartFault) throw error;
    throw new StartFault(
      `The data directory ${path} cannot be used: ${reason(error)} Set DATA_DIR to a writable folder.`,
    );
  }
}

function secretsIn(path: string): Secrets {
  const file = join(path, 'secrets.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const fresh = (): string => randomBytes(32).toString('hex');
    const created = { jwtSecret: fresh(), apiKeyPepper: fresh(), urlSecret: fresh(), databasePassword: fresh() };
    text = createFile(file, `${JSON.stringify(created, null, 2)}\n`);
  }
  try {
    return Secrets.parse(JSON.parse(text));
  } catch {
    throw new StartFault(
      `${file} is damaged. Restore it from a backup: without it no token, key or database password is valid.`,
    );
  }
}

/** Node's recursive mkdir never returns where folders cannot be created, as in /proc. */
function createFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(path) !== path) {
      createFolder(dirname(path));
      mkdirSync(path);
    } else if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw error;
    }
  }
}

/** Replaces the file atomically: after a power failure it has the old or the new text. */
export function replaceFile(file: string, text: string): void {
  renameSync(draftOf(file, text), file);
}

/** Creates the file unless another process has done so; returns its text. */
function createFile(file: string, text: string): string {
  const draft = draftOf(file, text);
  try {
    linkSync(draft, file);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readFileSync(file, 'utf8');
    // Some file systems, such as FAT, have no links.
    renameSync(draft, file);
    return text;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Writes the text to a temporary file in the same folder and syncs it to the disk. */
function draftOf(file: string, text: string): string {
  const draft = `${file}.${process.pid}`;
  const handle = openSync(draft, 'w', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return draft;
}

/**
 * The path of a socket has room for about a hundred bytes. A data directory with a longer path gets a folder for sockets
 * in the temporary directory, or in /tmp when that path is too long as well.
 */
function socketDirectory(path: string): string {
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const name = `call-analysis-${process.getuid?.() ?? 0}-${digest}`;
  const candidates = [join(path, 'run'), join(tmpdir(), name)];
  const directory = candidates.find((each) => Buffer.byteLength(each) <= 80) ?? join('/tmp', name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = statSync(directory);
  if (process.getuid !== undefined && found.uid !== process.getuid()) {
    throw new StartFault(`${directory} belongs to another user. Remove it, or set DATA_DIR to a shorter path.`);
  }
  chmodSync(directory, 0o700);
  return directory;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full.',
  EDQUOT: 'the disk is full.',
  EACCES: 'permission is denied.',
  EPERM: 'permission is denied.',
  EROFS: 'the file system is read-only.',
  ENOTDIR: 'a file with that name exists.',
  EEXIST: 'a file with that name exists.',
  ENOENT: 'the folder cannot be created.',
  ENAMETOOLONG: 'the name is too long.',
};

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? `${message}.`;
}
