import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Watched {
  /** Holds all files of the servers and is removed with them. Each server has it in its arguments. */
  readonly directory: string;
  /** Relative to the directory: a file whose first line is the pid of the server, or a folder of such files. */
  readonly pidFile: string;
  /** The signal that ends it. SIGKILL follows if it does not end. */
  readonly signal: NodeJS.Signals;
}

/** Starts a process that stops the servers when this one is killed. It notices that by the end of a pipe. */
export function startWatchdog({ directory, pidFile, signal }: Watched): ChildProcess {
  const program = fileURLToPath(new URL('./watchdog.ts', import.meta.url));
  const child = spawn(process.execPath, [program, directory, pidFile, signal], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.stdin?.on('error', () => {});
  child.unref();
  return child;
}
