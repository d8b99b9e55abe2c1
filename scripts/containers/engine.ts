import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
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
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../../packages/testing/wait-until.ts';

/** A Docker Engine in namespaces of its own. */
export type Engine = Awaited<ReturnType<typeof startEngine>>;

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
}) {
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

  /** The command that runs a program in these namespaces of the engine. */
  const inside = (...of: readonly string[]): [string, ...string[]] => {
    const pid = childOf(outer.pid!);
    if (pid === undefined) throw new Error('The engine has ended.');
    return ['nsenter', '--target', pid, ...of, '--'];
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

  /** Runs a program in the engine's root, from the repository. Its output goes to that of this process. Throws when it fails. */
  function run(command: readonly string[], { quiet = false } = {}): string {
    const [program, ...args] = inside('--mount', '--net', '--pid', '--uts', '--ipc', '--cgroup');
    return execFileSync(program, [...args, 'env', '--chdir', '/repository', 'HOME=/root', ...command], {
      stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'],
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
  }

  try {
    const state = await waitUntil(() =>
      outer.exitCode === null ? run(['docker', 'version'], { quiet: true }) : 'ended',
    );
    if (state === 'ended') throw new Error('it has ended');
    // In this machine's network, and with the engine's files.
    const [program, ...args] = inside('--mount');
    const slirp = ['slirp4netns', '--configure', '--mtu=65520', '--disable-host-loopback'];
    network = spawn(program, [...args, ...slirp, '--netns-type=path', '/proc/1/ns/net', 'tap0'], { stdio: 'ignore' });
    await waitUntil(() => run(['ip', '-brief', 'address'], { quiet: true }).includes('tap0'));
  } catch (error) {
    const said = readFileSync(logFile, 'utf8').split('\n').slice(-15).join('\n');
    await stop();
    throw new Error(`The engine did not start: ${(error as Error).message}\n${said}`, { cause: error });
  }

  return {
    run,
    stop,
    /** Where programs of this machine reach the engine, as DOCKER_HOST has it. */
    address: `unix:///proc/${childOf(outer.pid!)}/root/run/docker.sock`,
    /** The command and the arguments that run a program of this machine in the engine's network. */
    inNetwork: (command: readonly string[]): [string, ...string[]] => [...inside('--net'), ...command],
  };
}

function childOf(pid: number): string | undefined {
  try {
    return /^\d+/.exec(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))?.[0];
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
    await waitUntil(
      () => {
        remove(group);
        return true;
      },
      { timeoutMs: 5_000 },
    ).catch(() => {});
  }
}
