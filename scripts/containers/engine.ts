import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A Docker Engine in namespaces of its own. */
export interface Engine {
  /** Runs a program in the engine's root, from the repository. Its output goes to that of this process. Throws when it fails. */
  run(command: readonly string[], options?: { readonly quiet?: boolean; readonly cwd?: string }): string;
  /** The command and the arguments that run a program of this machine in the engine's network. */
  inNetwork(command: readonly string[]): [string, ...string[]];
  /** Where programs of this machine reach the engine, as DOCKER_HOST has it. */
  readonly address: string;
  stop(): Promise<void>;
}

const STARTS_WITHIN_MS = 120_000;
const CGROUPS = '/sys/fs/cgroup';

/**
 * Starts the engine of `tree` (Debian with Docker) on the data in `work`. It has a network of its own, which reaches the world
 * through a program in user space: the addresses, routes and firewall of this machine stay as they are.
 */
export async function startEngine(paths: {
  readonly tree: string;
  readonly work: string;
  readonly repository: string;
  readonly images: string;
}): Promise<Engine> {
  const logFile = join(paths.work, 'engine.log');
  const groups = newGroups(`call-analysis-${process.pid}`);
  const log = openSync(logFile, 'a');
  const namespaces = ['--mount', '--net', '--pid', '--uts', '--ipc', '--cgroup', '--fork', '--kill-child'];
  const enter = fileURLToPath(new URL('enter.sh', import.meta.url));
  // The shell enters the groups before unshare makes them the root that the engine sees.
  const entering = groups.map((group) => `echo $$ >'${group}/cgroup.procs'`).join('; ');
  const outer = spawn('sh', ['-c', `${entering}; exec unshare ${namespaces.join(' ')} sh "$0"`, enter], {
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      TREE: paths.tree,
      WORK: paths.work,
      REPOSITORY: paths.repository,
      IMAGES: paths.images,
    },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let network: ChildProcess | undefined;

  const inside = () => {
    const pid = childOf(outer.pid!);
    if (pid === undefined) throw new Error('The engine has ended.');
    return ['nsenter', '--target', String(pid), '--mount', '--net', '--pid', '--uts', '--ipc', '--cgroup', '--'];
  };

  async function stop(): Promise<void> {
    for (const child of [outer, network]) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await removeGroups(groups);
    await rm(paths.work, { recursive: true, force: true });
  }

  function run(command: readonly string[], { quiet = false, cwd = '/repository' } = {}): string {
    const [program = '', ...args] = [...inside(), 'env', '--chdir', cwd, 'HOME=/root', ...command];
    const { status, stdout } = spawnSync(program, args, {
      stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'],
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}.`);
    return stdout;
  }

  try {
    const until = Date.now() + STARTS_WITHIN_MS;
    for (;;) {
      if (outer.exitCode !== null) throw new Error('it has ended');
      try {
        run(['docker', 'version'], { quiet: true });
        break;
      } catch (error) {
        if (Date.now() > until) throw error;
        await pause(500);
      }
    }
    // In this machine's network, and with the engine's files.
    const pid = String(childOf(outer.pid!));
    const slirp = ['slirp4netns', '--configure', '--mtu=65520', '--disable-host-loopback'];
    network = spawn(
      'nsenter',
      ['--target', pid, '--mount', '--', ...slirp, '--netns-type=path', '/proc/1/ns/net', 'tap0'],
      { stdio: 'ignore' },
    );
    for (;;) {
      if (run(['ip', '-brief', 'address'], { quiet: true }).includes('tap0')) break;
      if (Date.now() > until) throw new Error('slirp4netns did not start');
      await pause(200);
    }
  } catch (error) {
    const said = existsSync(logFile) ? readFileSync(logFile, 'utf8').split('\n').slice(-15).join('\n') : '';
    await stop();
    throw new Error(`The engine did not start: ${(error as Error).message}\n${said}`, { cause: error });
  }

  return {
    run,
    stop,
    address: `unix:///proc/${childOf(outer.pid!)}/root/run/docker.sock`,
    inNetwork: (command) => {
      const pid = childOf(outer.pid!);
      if (pid === undefined) throw new Error('The engine has ended.');
      return ['nsenter', '--target', String(pid), '--net', '--', ...command];
    },
  };
}

function childOf(pid: number): number | undefined {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return child === undefined || child === '' ? undefined : Number(child);
  } catch {
    return undefined;
  }
}

/** A control group of that name in each hierarchy of the machine. */
function newGroups(name: string): string[] {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  const isFirst = lines.some((line) => !line.startsWith('0:'));
  const groups = lines.flatMap((line) => {
    const [number = '', controllers = '', path = ''] = line.split(':');
    if (number === '0') return isFirst ? [] : [join(CGROUPS, path, name)];
    return [join(CGROUPS, controllers.replace(/^name=/, ''), path, name)];
  });
  for (const group of groups) {
    mkdirSync(group);
    // Without these a group of cpuset takes no process.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const own = join(group, file);
      if (isFirst && existsSync(own)) writeFileSync(own, readFileSync(join(group, '..', file)));
    }
  }
  return groups;
}

async function removeGroups(groups: readonly string[]): Promise<void> {
  const remove = (group: string) => {
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory()) remove(join(group, entry.name));
    rmdirSync(group);
  };
  for (const group of groups) {
    // The kernel removes processes from their groups a moment after they have ended.
    for (let tried = 0; tried < 50; tried += 1) {
      try {
        remove(group);
        break;
      } catch {
        await pause(100);
      }
    }
  }
}
