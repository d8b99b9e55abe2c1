import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

export type Ending =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null; readonly output: Buffer }
  | { readonly kind: 'not-started'; readonly error: NodeJS.ErrnoException }
  | { readonly kind: 'timed-out' | 'too-much-output' };

export interface Run {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Descriptor of an open file that the program reads from standard input; null for nothing. */
  readonly input: number | null;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

/** How long a program may take to put its things in order when told to stop, and one that has exited to close its output. */
const GRACE_MS = 1000;
const COMPLAINT_BYTES = 4096;

/**
 * Runs a program, without a shell, in a process group of its own, so that what it has started ends with it. Resolves when
 * all of it has ended; `complaints` is the end of its standard error. Fails with the reason of the signal.
 */
export async function runProgram(run: Run): Promise<{ ending: Ending; complaints: string }> {
  run.signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  let stopped: 'aborted' | 'timed-out' | 'too-much-output' | null = null;
  let failure: NodeJS.ErrnoException | null = null;
  let output: Buffer[] = [];
  let outputSize = 0;
  let complaints = Buffer.alloc(0);
  const timers: NodeJS.Timeout[] = [];

  const child = spawn(run.program, run.arguments, {
    env: { ...run.environment },
    stdio: [run.input ?? 'ignore', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
  });

  function toGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // All of it has ended.
    }
  }

  /** Also for what has left the group and holds the pipes still: our ends are closed, and nothing is waited for. */
  function killSoon(): void {
    timers.push(
      setTimeout(() => {
        toGroup('SIGKILL');
        child.stdout?.destroy();
        child.stderr?.destroy();
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
  child.stderr?.on('error', () => {});
  child.stdout?.on('data', (part: Buffer) => {
    outputSize += part.length;
    if (outputSize <= run.outputBytes) output.push(part);
    else {
      output = [];
      stop('too-much-output');
    }
  });
  child.stderr?.on('data', (part: Buffer) => {
    complaints = Buffer.concat([complaints, part]).subarray(-COMPLAINT_BYTES);
  });
  yieldTo(child.pid);

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
  const words = complaints.toString('utf8').trim();
  if (failure !== null && child.pid === undefined)
    return { ending: { kind: 'not-started', error: failure }, complaints: words };
  if (stopped !== null) return { ending: { kind: stopped }, complaints: words };
  return {
    ending: { kind: 'exited', code: child.exitCode, signal: child.signalCode, output: Buffer.concat(output) },
    complaints: words,
  };
}

/** A recogniser takes all the processor it gets; the service beside it comes first. */
function yieldTo(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the system does not allow it.
  }
}
