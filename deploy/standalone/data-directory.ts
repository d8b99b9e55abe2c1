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
  /** Signs the URLs of the disk store. */
  urlSecret: z.string(),
  /** Of every service's database role. */
  databasePassword: z.string(),
});
export type Secrets = z.infer<typeof Secrets>;

export interface DataDirectory {
  readonly path: string;
  readonly secrets: Secrets;
  readonly postgres: string;
  readonly objects: string;
  /** For recordings while they are heard. */
  readonly work: string;
  /** Where services listen for each other; only this user can enter it. */
  socket(service: string): string;
}

/** Opens the directory that holds everything, making it and its secrets the first time. */
export function openDataDirectory(path: string): DataDirectory {
  try {
    makeFolder(path);
    const sockets = socketDirectory(path);
    return {
      path,
      secrets: secretsIn(path),
      postgres: join(path, 'postgres'),
      objects: join(path, 'objects'),
      work: join(path, 'work'),
      socket: (service) => `unix:${join(sockets, `${service}.sock`)}`,
    };
  } catch (error) {
    if (error instanceof StartFault) throw error;
    throw new StartFault(
      `The data directory ${path} cannot be used: ${reason(error)} Set DATA_DIR to a folder that can be written.`,
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
    const made = { jwtSecret: fresh(), apiKeyPepper: fresh(), urlSecret: fresh(), databasePassword: fresh() };
    text = makeFile(file, `${JSON.stringify(made, null, 2)}\n`);
  }
  try {
    return Secrets.parse(JSON.parse(text));
  } catch {
    throw new StartFault(
      `${file} is damaged. Restore it from a backup: without it no token, key or database password is valid.`,
    );
  }
}

/** Node's own recursive mkdir asks for ever where folders cannot be made, as in /proc. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(path) !== path) {
      makeFolder(dirname(path));
      mkdirSync(path);
    } else if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw error;
    }
  }
}

/** The file as it was or as it is to be, whenever the power goes. */
export function replaceFile(file: string, text: string): void {
  renameSync(draftOf(file, text), file);
}

/** Makes the file unless somebody was quicker; returns what stands in it now. */
function makeFile(file: string, text: string): string {
  const draft = draftOf(file, text);
  try {
    linkSync(draft, file);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readFileSync(file, 'utf8');
    // Some file systems, such as those of memory cards, have no links.
    renameSync(draft, file);
    return text;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The text in a file beside, safe on the disk. */
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
 * A socket's path has room for about a hundred bytes; a data directory that lies too deep gets a folder elsewhere, and so
 * does one beside a folder for temporary files that lies too deep itself.
 */
function socketDirectory(path: string): string {
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const name = `call-analysis-${process.getuid?.() ?? 0}-${digest}`;
  const places = [join(path, 'run'), join(tmpdir(), name)];
  const directory = places.find((each) => Buffer.byteLength(each) <= 80) ?? join('/tmp', name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = statSync(directory);
  if (process.getuid !== undefined && found.uid !== process.getuid()) {
    throw new StartFault(`${directory} belongs to another user. Remove it, or set DATA_DIR to a shorter path.`);
  }
  chmodSync(directory, 0o700);
  return directory;
}

function reason(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full.';
    case 'EACCES':
    case 'EPERM':
      return 'permission is denied.';
    case 'EROFS':
      return 'the file system is read-only.';
    case 'ENOTDIR':
    case 'EEXIST':
      return 'there is a file of that name.';
    case 'ENOENT':
      return 'nothing can be written there.';
    case 'ENAMETOOLONG':
      return 'the name is too long.';
    default:
      return `${error instanceof Error ? error.message : String(error)}.`;
  }
}
