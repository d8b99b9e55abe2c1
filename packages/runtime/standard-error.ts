import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const GATHER_BYTES = 64 * 1024;
const GATHER_MS = 50;
/** What a character may take in UTF-8, at most. */
const CHARACTER_BYTES = 3;

// As bytes: a long string of many pieces would survive to be moved about by the garbage collector, and be made flat at the
// end, which costs more than writing it.
const gathered = Buffer.allocUnsafeSlow(GATHER_BYTES);
let used = 0;
let timer: NodeJS.Timeout | undefined;
let opened = false;

export interface LineDestination extends DestinationStream {
  /** The same for a line that is known to be ASCII, where that is cheaper. */
  writeAscii?(line: string): void;
}

/** Standard error of this process, written to when enough has come together or some time has passed. */
export const standardError: LineDestination = {
  write: (line) => gather(line, 'utf8'),
  // Of the 1.7 µs that the line of a request takes 0.2 less.
  writeAscii: (line) => gather(line, 'latin1'),
};

function gather(line: string, encoding: 'utf8' | 'latin1'): void {
  if (!opened) open();
  const most = line.length * CHARACTER_BYTES;
  if (used + most > GATHER_BYTES) flushLog();
  if (most > GATHER_BYTES) {
    write(Buffer.from(line));
    return;
  }
  used += gathered.write(line, used, encoding);
  timer ??= setTimeout(flushLog, GATHER_MS).unref();
}

/** Writes now what has been gathered. */
export function flushLog(): void {
  clearTimeout(timer);
  timer = undefined;
  if (used === 0) return;
  const bytes = gathered.subarray(0, used);
  used = 0;
  write(bytes);
}

function open(): void {
  opened = true;
  process.once('exit', flushLog);
}

const STANDARD_ERROR = 2;
const BUSY_MS = 100;
const nap = new Int32Array(new SharedArrayBuffer(4));

/**
 * Has written when it returns, so that what was gathered may be overwritten. A reader who is behind is waited for. Where
 * nobody reads any more, such as a terminal that was closed, or a disk is full, lines are lost and nothing else.
 */
function write(bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(STANDARD_ERROR, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN' && code !== 'EBUSY') return;
      Atomics.wait(nap, 0, 0, BUSY_MS);
    }
  }
}
