import { destination, type DestinationStream } from 'pino';

const GATHER_LENGTH = 64 * 1024;
const GATHER_MS = 50;

let gathered = '';
let timer: NodeJS.Timeout | undefined;
let opened: DestinationStream | undefined;

/** Standard error of this process, written to when enough has come together or some time has passed. */
export const standardError: DestinationStream = {
  write(line) {
    opened ??= open();
    gathered += line;
    if (gathered.length >= GATHER_LENGTH) flushLog();
    else timer ??= setTimeout(flushLog, GATHER_MS).unref();
  },
};

/** Writes now what has been gathered. */
export function flushLog(): void {
  clearTimeout(timer);
  timer = undefined;
  if (gathered === '') return;
  const text = gathered;
  gathered = '';
  opened?.write(text);
}

function open(): DestinationStream {
  process.once('exit', flushLog);
  return destination({ fd: 2, sync: true });
}
