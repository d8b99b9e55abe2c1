import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWatchdog } from '../watchdog/start-watchdog.ts';
import type { Runner } from './own-server.ts';

/** A new folder, as the real path that the list of processes shows. */
export async function makeDirectory(name: string): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), `call-analysis-${name}-`));
}

interface ProcessOptions {
  /** Holds the server's data and log. One of the server's arguments must name it. */
  readonly directory: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const pidFile = 'server.pid';

/** A program of this machine, in its own process group so that Ctrl-C in the terminal does not reach it. */
export function processRunner({ directory, command, args, env }: ProcessOptions): Runner {
  const log = join(directory, 'server.log');
  let child: ChildProcess | null = null;
  let watchdog: ChildProcess | null = null;

  const alive = () => child !== null && child.exitCode === null && child.signalCode === null;

  return {
    pid: () => child?.pid ?? 0,
    alive: async () => alive(),
    async start() {
      const output = await open(log, 'a');
      try {
        child = spawn(command, args, {
          cwd: directory,
          env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
          detached: true,
          stdio: ['ignore', output.fd, output.fd],
        });
        await once(child, 'spawn');
      } finally {
        await output.close();
      }
      child.unref();
      await writeFile(join(directory, pidFile), `${child.pid}\n`);
      watchdog ??= startWatchdog({ directory, pidFile, signal: 'SIGKILL' });
    },
    async signal(signal) {
      if (alive()) child?.kill(signal);
    },
    async lastLines() {
      const text = await readFile(log, 'utf8').catch(() => '');
      return text.trim().split('\n').slice(-12).join('\n');
    },
    async remove() {
      watchdog?.stdin?.end();
      await rm(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
