import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@call-analysis/testing';
import { allocatorVariables, v8Flags } from '../../../v8-flags.ts';
import { copyOfFirstStart } from './first-start.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));

export interface RunningService {
  readonly url: string;
  readonly directory: string;
  /** The environment of the admin command. */
  readonly administration: Readonly<Record<string, string>>;
  /** Stops it and, unless `keep`, removes its data. */
  stop(options?: { keep?: boolean }): Promise<unknown>;
}

export interface ServiceProcess extends RunningService {
  readonly pid: number;
  /** From the start of the process to its `ready` line. */
  readonly readyMs: number;
  readonly child: ChildProcess;
  /** Its standard error so far. */
  readonly stderr: () => string;
  /** Stops it with SIGTERM and, unless `keep`, removes its data. Resolves to the exit code. */
  stop(options?: { keep?: boolean }): Promise<number | null>;
}

export interface ServiceOptions {
  /** A process group of its own: Ctrl-C in a terminal does not reach the service. */
  readonly detached?: boolean;
  /** Called before the service is ready. */
  readonly spawned?: (child: ChildProcess) => void;
}

/** A data directory in the state after a first start, by default a temporary one. */
export function startedDirectory(path?: string): Promise<string> {
  return copyOfFirstStart((made) => startService(made), path);
}

/**
 * Starts the service in a child process, as `npm start` does. Without `dataDirectory`, on a new one in the state after a
 * first start. The process gets these variables, and no settings of the test's environment.
 */
export async function startService(
  dataDirectory?: string,
  variables: Record<string, string> = {},
  { detached = false, spawned }: ServiceOptions = {},
): Promise<ServiceProcess> {
  const directory = dataDirectory ?? (await startedDirectory());
  const began = performance.now();
  // A watchdog recognises the process by the folder in its arguments.
  const child = spawn(process.execPath, [...v8Flags, `--diagnostic-dir=${directory}`, main], {
    detached,
    env: {
      ...bareEnvironment(),
      ...allocatorVariables,
      LOG_LEVEL: 'error',
      ...variables,
      DATA_DIR: directory,
      PORT: variables['PORT'] ?? '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  spawned?.(child);
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code, signal) =>
      reject(new Error(`the service ended (${code ?? signal}) before it was ready:\n${said}`)),
    );
    createInterface(child.stdout!).on('line', (line) => {
      const ready = /^ready\s+(\S+)/.exec(line);
      if (ready !== null) resolve(ready[1]!);
    });
  });
  return {
    url,
    directory,
    administration: { DATA_DIR: directory },
    pid: child.pid!,
    readyMs: performance.now() - began,
    child,
    stderr: () => said,
    async stop({ keep = false } = {}) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
      child.kill('SIGTERM');
      await ended;
      if (!keep) await rm(directory, { recursive: true, force: true });
      return child.exitCode;
    },
  };
}
