import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Watched {
  /** Everything of the servers, removed with them; each names it among its arguments. */
  readonly directory: string;
  /** Below the directory; its first line is the pid of the process that serves now. Or a folder of such files. */
  readonly pidFile: string;
  /** What makes it end at once; a SIGKILL follows where it does not. */
  readonly signal: NodeJS.Signals;
}

/** A process that outlives this one, should this one be killed, and sees its end by the end of a pipe. */
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
