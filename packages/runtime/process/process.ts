import { performance } from 'node:perf_hooks';
import { types } from 'node:util';
import { StartFault } from '../config/config.ts';
import type { Logger } from '../log/log.ts';

export interface Running {
  close(): Promise<void>;
}

/**
 * npm forwards a signal that the terminal has already sent to all its processes, so one Ctrl-C may arrive twice. Only a
 * signal that comes later than this is a second one.
 */
const ECHO_MS = 250;

/**
 * Runs a process from start to exit code. The promise never settles: the process exits instead.
 *
 * - SIGTERM, SIGINT or SIGHUP closes once and exits 0. During start it aborts `signal`; if start succeeds nevertheless,
 *   everything that it opened is closed. A second signal exits 1 immediately.
 * - A StartFault (ConfigFault is one) is printed on standard error without a stack, exit 1. Any other failure to start
 *   is logged, exit 1.
 * - An unhandled exception or rejection is logged, everything is closed, exit 1.
 * - Warnings of Node are logged.
 * - With `--expose-gc` it returns memory to the operating system when it is idle.
 * - Stopping is abandoned after `graceMs` (default 10,000; read when the first signal comes), exit 1.
 */
export function runProcess(life: {
  start: (signal: AbortSignal) => Promise<Running>;
  log: Logger;
  graceMs?: () => number;
}): Promise<never> {
  const { log } = life;
  const abort = new AbortController();
  let exitCode = 0;
  let stoppedAt: number | undefined;

  returnIdleMemory({ log });
  const started = Promise.resolve().then(() => life.start(abort.signal));
  started.catch((error: unknown) => {
    if (stoppedAt !== undefined) return;
    if (error instanceof StartFault) print(error.message);
    else log.error({ err: error }, 'the process could not start');
    process.exit(1);
  });

  function stop(code: 0 | 1): void {
    exitCode ||= code;
    if (stoppedAt !== undefined) return;
    stoppedAt = performance.now();
    const graceMs = life.graceMs?.() ?? 10_000;
    setTimeout(() => {
      print(`Stopping took longer than ${graceMs / 1000} s and was abandoned.`);
      process.exit(1);
    }, graceMs);
    abort.abort();
    void closeAndExit();
  }

  async function closeAndExit(): Promise<void> {
    let running: Running | undefined;
    try {
      running = await started;
    } catch (error) {
      // An aborted start is no failure.
      if (!isAbort(error)) log.warn({ err: error }, 'the start was cut short');
    }
    try {
      await running?.close();
    } catch (error) {
      log.error({ err: error }, 'the process did not close cleanly');
      exitCode = 1;
    }
    process.exit(exitCode);
  }

  // SIGHUP arrives when the terminal is closed. Without a handler, child processes such as the database would keep
  // running.
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stoppedAt === undefined) {
        log.info({ signal: name }, 'stopping');
        stop(0);
      } else if (performance.now() - stoppedAt > ECHO_MS) {
        print('Received a second signal, so stopping was abandoned.');
        process.exit(1);
      }
    });
  }
  // Node's own listener would write them as plain text between the JSON lines.
  process.removeAllListeners('warning').on('warning', (warning) => {
    log.warn({ err: warning }, 'Node warning');
  });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'uncaught exception');
    stop(1);
  });
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'unhandled rejection');
    stop(1);
  });

  return new Promise<never>(() => {});
}

function print(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

function isAbort(error: unknown): boolean {
  return types.isNativeError(error) && error.name === 'AbortError';
}

interface IdleMemoryOptions {
  readonly log: Logger;
  /** Between two checks. */
  readonly everyMs?: number;
  /** How much memory must have been added since the last time. Less is not worth a pause. */
  readonly worthBytes?: number;
}

/** The share of the time that a service is busy with its own checks when nobody uses it is 0.01 to 0.03. */
const IDLE_UTILIZATION = 0.05;

/**
 * Gives the memory of a load back to the operating system once the process is idle, with a collection that takes 0.1 to 0.2 s.
 * V8 itself keeps the pages that a load has emptied: after 30,000 short calls a process with 78 MB in its heap held 320 MiB,
 * also after a minute and after ordinary collections, and 175 MiB after this one. Needs `--expose-gc`; without it, does
 * nothing.
 */
export function returnIdleMemory({ log, everyMs = 10_000, worthBytes = 48 * 2 ** 20 }: IdleMemoryOptions): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let kept = 0;
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const held = process.memoryUsage.rss();
    if (utilization > IDLE_UTILIZATION || held < kept + worthBytes) return;
    const beganAt = performance.now();
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    kept = process.memoryUsage.rss();
    log.debug({ held, kept, tookMs: Math.round(performance.now() - beganAt) }, 'returned the memory of a past load');
  }, everyMs).unref();
}

/** Whether a process with this id runs, under any user. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
