import { types } from 'node:util';
import type { Logger } from '../log/log.ts';
import { StartFault } from './start-fault.ts';

export interface Running {
  close(): Promise<void>;
}

/**
 * npm passes on a signal that the terminal has already sent to everybody, so one Ctrl-C may arrive twice. Only what
 * comes later than this is a second wish.
 */
const ECHO_MS = 250;

/**
 * The life of a process, from start to exit code. The promise never settles: the process exits instead.
 *
 * - SIGTERM, SIGINT or SIGHUP closes once and exits 0. During start it aborts `signal`; when start succeeds all the same,
 *   what it opened is closed. A second signal exits 1 at once.
 * - A StartFault (ConfigFault is one) is printed on standard error as it stands, exit 1. Any other failure to start is
 *   logged, exit 1.
 * - An exception or rejection that nobody handles is logged, everything is closed, exit 1.
 * - What Node warns of is logged.
 * - What has not finished `graceMs` (default 10,000; asked for when the wish comes) after the wish to stop is abandoned, exit 1.
 */
export function runProcess(life: {
  start: (signal: AbortSignal) => Promise<Running>;
  log: Logger;
  graceMs?: number | (() => number);
}): Promise<never> {
  const { log } = life;
  const abort = new AbortController();
  let exitCode = 0;
  let stoppedAt: number | undefined;

  const started = Promise.resolve().then(() => life.start(abort.signal));
  started.catch((error: unknown) => {
    if (stoppedAt !== undefined) return;
    if (error instanceof StartFault) say(error.message);
    else log.error({ err: error }, 'the process could not start');
    process.exit(1);
  });

  function stop(code: 0 | 1): void {
    exitCode ||= code;
    if (stoppedAt !== undefined) return;
    stoppedAt = performance.now();
    const graceMs = typeof life.graceMs === 'function' ? life.graceMs() : (life.graceMs ?? 10_000);
    setTimeout(() => {
      say(`Stopping took longer than ${graceMs / 1000} s, so what was left was abandoned.`);
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
      // A start that gives up because it was told to stop has done what it should.
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

  // SIGHUP comes when the terminal is closed: what runs beside, such as the database, would be left behind.
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stoppedAt === undefined) {
        log.info({ signal: name }, 'stopping');
        stop(0);
      } else if (performance.now() - stoppedAt > ECHO_MS) {
        say('Told to stop a second time, so what was left was abandoned.');
        process.exit(1);
      }
    });
  }
  // Node's own listener would write them as bare lines between ours.
  process.removeAllListeners('warning').on('warning', (warning) => {
    log.warn({ err: warning }, 'Node warns');
  });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'nobody caught an exception');
    stop(1);
  });
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'nobody handled a rejection');
    stop(1);
  });

  return new Promise<never>(() => {});
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

function isAbort(error: unknown): boolean {
  return types.isNativeError(error) && error.name === 'AbortError';
}
