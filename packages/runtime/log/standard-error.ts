import { type DestinationStream, pino } from 'pino';

const STANDARD_ERROR = 2;
const BUFFER_BYTES = 8 * 1024;
const FLUSH_MS = 50;
/** Lines beyond this are dropped while standard error cannot be written. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

export interface BufferedDestination extends DestinationStream {
  /** Writes what is buffered. */
  flush(): void;
}

let destination: BufferedDestination | undefined;

/**
 * Standard error, written when the buffer is full, after a moment, on `flush` and at exit. Writes are synchronous, so a
 * slow reader is waited for. When nothing can be written, as to a closed terminal or a full disk, lines are lost and the
 * process goes on.
 */
export function standardError(): BufferedDestination {
  destination ??= open();
  return destination;
}

function open(): BufferedDestination {
  const stream = pino.destination({
    dest: STANDARD_ERROR,
    sync: true,
    minLength: BUFFER_BYTES,
    maxLength: MAX_BUFFERED_BYTES,
  });
  stream.on('error', () => {});
  let timer: NodeJS.Timeout | undefined;
  // Not `flushSync`: that tries again for ever when nothing can be written.
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    stream.flush();
  };
  process.once('exit', flush);
  return {
    write(line) {
      stream.write(line);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
