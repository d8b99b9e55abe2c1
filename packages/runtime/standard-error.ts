import { destination, type DestinationStream } from 'pino';

const GATHER_BYTES = 64 * 1024;
const GATHER_MS = 50;
/** What a character may take in UTF-8, at most. */
const CHARACTER_BYTES = 3;

// As bytes: a long string of many pieces would survive to be moved about by the garbage collector, and be made flat at the
// end, which costs more than writing it.
const gathered = Buffer.allocUnsafeSlow(GATHER_BYTES);
let used = 0;
let timer: NodeJS.Timeout | undefined;
let opened: { write(bytes: Buffer): unknown } | undefined;

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
  opened ??= open();
  const most = line.length * CHARACTER_BYTES;
  if (used + most > GATHER_BYTES) flushLog();
  if (most > GATHER_BYTES) {
    opened.write(Buffer.from(line));
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
  opened?.write(bytes);
}

/** Has written when `write` returns, so that what was gathered may be overwritten. */
function open(): { write(bytes: Buffer): unknown } {
  process.once('exit', flushLog);
  return destination({ fd: 2, sync: true, contentMode: 'buffer' }) as unknown as { write(bytes: Buffer): unknown };
}
