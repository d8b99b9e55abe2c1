import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { createLog, earlyLogLevel, SHUTDOWN_MARGIN_MS, runProcess, StartFault } from '@call-analysis/runtime';
import { readSettings, type Settings } from './config.ts';
import { startHint } from './start-hint.ts';
import type { Standalone } from './start.ts';

const help = `Usage: npm start

Starts the call analysis service on this machine and serves it on http://127.0.0.1:8080.
All data is stored under ./data. Ctrl-C stops the service.

  PORT, HOST      the address to listen on
  DATA_DIR        the folder for all data
  LOG_LEVEL       debug, info, warn, error or silent; logs go to standard error

docs/configuration.md lists every variable.`;

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  console.log(help);
  process.exit(0);
}

const log = createLog({ name: 'call-analysis', level: earlyLogLevel(process.env) });

const STDOUT = 1;
const CHECK_MS = 500;
let graceMs = SHUTDOWN_MARGIN_MS;

/** A reader of the whole output has started by then. Later, the end of the reader does not stop the service. */
const READER_MS = 10_000;

const output = watchOutputReader();
void output.gone.then(() => {
  console.error('The program that reads standard output has ended, so the service stops. Start it without a pipe.');
  process.kill(process.pid, 'SIGTERM');
});

await runProcess({
  log,
  graceMs: () => graceMs,
  start: async (signal) => {
    const settings = readSettings(process.env);
    graceMs = settings.closeMs + SHUTDOWN_MARGIN_MS;
    // Loaded after the settings are read, so that a wrong setting is reported without delay.
    const { start } = await import('./start.ts');
    const running = await start(settings, { log, signal });
    // This rejection is not handled on purpose: runProcess then closes everything and exits with 1.
    void running.lost.then(() => {
      throw new StartFault(`${settings.dataDirectory} was taken by another process while PostgreSQL was not running.`);
    });
    console.log(`ready  ${running.url}\n`);
    const link = await signInLink(running, settings);
    if (link !== null) console.log(`Sign in, once and within 10 minutes, as the first SUPERUSER:\n  ${link}\n`);
    console.log(startHint);
    setTimeout(output.stopChecking, READER_MS).unref();
    return running;
  },
});

/** A link that signs the first SUPERUSER in. Null when there is none, or when no link can be made: the service runs anyway. */
async function signInLink(running: Standalone, settings: Settings): Promise<string | null> {
  const { dialAdministration } = await import('./admin/administration.ts');
  const admin = dialAdministration(running.keyManagement, settings, running.directory.secrets.jwtSecret);
  try {
    return (await admin.signInLink(null, running.url))?.link ?? null;
  } catch {
    return null;
  } finally {
    admin.close();
  }
}

/**
 * Watches the reader of standard output. In `npm start | head -1` it ends long before the service does, which then
 * nobody sees and Ctrl-C does not reach. A write would fail, but the service writes only once; and before, npm writes
 * to the same pipe. `gone` resolves when that program has ended; once the checks are stopped, only a write finds out.
 */
function watchOutputReader() {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') resolve();
  });
  if (!isPipe()) return { gone, stopChecking: () => {} };
  const timer = setInterval(() => {
    if (!isReaderGone()) return;
    clearInterval(timer);
    resolve();
  }, CHECK_MS).unref();
  return { gone, stopChecking: () => clearInterval(timer) };
}

/** Only Linux shows whether a pipe has a reader. */
function isPipe(): boolean {
  try {
    return process.platform === 'linux' && fstatSync(STDOUT).isFIFO();
  } catch {
    return false;
  }
}

/** Opening a pipe for writing without waiting fails when nobody has it open for reading. */
function isReaderGone(): boolean {
  try {
    closeSync(openSync(`/proc/self/fd/${STDOUT}`, constants.O_WRONLY | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENXIO';
  }
}
