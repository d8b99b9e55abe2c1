import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Server {
  /** Relative to the directory: a file whose first line is the pid of the server, or a folder of such files. */
  readonly pidFile: string;
  /** The signal that ends it. SIGKILL follows if it does not end. */
  readonly signal: NodeJS.Signals;
}

interface Watched extends Server {
  /** Holds all files of the servers and is removed with them. Each server has it in its arguments. */
  readonly directory: string;
  /** A server that this one may start. It is stopped after it. */
  readonly child?: Server;
}

/** Starts a process that stops the servers when this one is killed. It notices that by the end of a pipe. */
export function startWatchdog({ directory, pidFile, signal, child: inner }: Watched): ChildProcess {
  const program = fileURLToPath(new URL('./watchdog.ts', import.meta.url));
  const servers = [pidFile, signal, ...(inner === undefined ? [] : [inner.pidFile, inner.signal])];
  const child = spawn(process.execPath, [program, directory, ...servers], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.stdin?.on('error', () => {});
  child.unref();
  return child;
}
