import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

export type Ending =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null; readonly output: Buffer }
  | { readonly kind: 'not-started'; readonly error: NodeJS.ErrnoException }
  | { readonly kind: 'timed-out' | 'too-much-output' };

interface Run {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Descriptor of an open file to use as standard input; null for none. */
  readonly input: number | null;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

/** From SIGTERM to SIGKILL, and from the program's exit until its output is no longer waited for. */
const GRACE_MS = 1000;

/**
 * Runs a program without a shell, in its own process group, so that its child processes end with it. Resolves when the
 * group has ended. Rejects with the signal's reason on abort. What it prints on standard error is thrown away: recognizers print
 * there what they hear.
 */
export async function runProgram(run: Run): Promise<Ending> {
  run.signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  let stopped: 'aborted' | 'timed-out' | 'too-much-output' | null = null;
  let failure: NodeJS.ErrnoException | null = null;
  let output: Buffer[] = [];
  let outputSize = 0;
  const timers: NodeJS.Timeout[] = [];

  const child = spawn(run.program, run.arguments, {
    env: { ...run.environment },
    stdio: [run.input ?? 'ignore', 'pipe', 'ignore'],
    detached: true,
    windowsHide: true,
  });

  function toGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The group has ended.
    }
  }

  /** A process that has left the group may still hold the pipe. Closing our end stops the wait for it. */
  function killSoon(): void {
    timers.push(
      setTimeout(() => {
        toGroup('SIGKILL');
        child.stdout?.destroy();
      }, GRACE_MS),
    );
  }

  function stop(why: 'aborted' | 'timed-out' | 'too-much-output'): void {
    if (stopped !== null) return;
    stopped = why;
    toGroup('SIGTERM');
    killSoon();
  }

  child.on('error', (error) => {
    failure = error;
    if (child.pid === undefined) resolve();
  });
  child.on('exit', killSoon);
  child.on('close', () => resolve());
  child.stdout?.on('error', () => {});
  child.stdout?.on('data', (part: Buffer) => {
    outputSize += part.length;
    if (outputSize <= run.maxOutputBytes) output.push(part);
    else {
      output = [];
      stop('too-much-output');
    }
  });
  lowerPriority(child.pid);

  const abort = () => stop('aborted');
  run.signal.addEventListener('abort', abort);
  timers.push(setTimeout(() => stop('timed-out'), run.timeoutMs));
  try {
    await promise;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    run.signal.removeEventListener('abort', abort);
  }
  if (stopped !== null) toGroup('SIGKILL');
  if (stopped === 'aborted') throw run.signal.reason;
  if (failure !== null && child.pid === undefined) return { kind: 'not-started', error: failure };
  if (stopped !== null) return { kind: stopped };
  return { kind: 'exited', code: child.exitCode, signal: child.signalCode, output: Buffer.concat(output) };
}

/** A recognizer uses all the processor time that it gets; the service comes first. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The program has ended already, or the system does not allow it.
  }
}
