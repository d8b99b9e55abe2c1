import { closeSync, constants, fstatSync, openSync } from 'node:fs';

const STDOUT = 1;
const CHECK_MS = 500;

interface OutputReader {
  /** Resolves when a program that standard output was piped into has ended. */
  readonly gone: Promise<void>;
  /** No longer checks whether the reader is there. A write still finds out. */
  stopChecking(): void;
}

/**
 * Watches the reader of standard output. In `npm start | head -1` it ends long before the service does, which then
 * nobody sees and Ctrl-C does not reach. A write would fail, but the service writes only once; and before, npm writes
 * to the same pipe.
 */
export function watchOutputReader(): OutputReader {
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
