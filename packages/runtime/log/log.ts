import { types } from 'node:util';
import { Fault } from '@call-analysis/fault';
import { type DestinationStream, pino } from 'pino';
import { currentContext } from './context.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Fields first, then a sentence. An Error goes under `err`. Never log bodies, keys, names or phone numbers. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
  /** For callers with thousands of lines a second, so that they can skip the work for lines that are not written. */
  isLevelEnabled?(level: LogLevel): boolean;
}

type Destination = DestinationStream & Partial<BufferedDestination>;

/**
 * JSON lines on standard error, because standard output is for the `ready` line and the output of commands. Secrets are
 * redacted, and errors are described without the data that they quote. Warnings and errors are written immediately,
 * with all lines before them; other lines are buffered for a moment. An exit writes what is buffered.
 */
export function createLog(options: { name: string; level?: LogLevel; destination?: Destination }): Logger {
  const { destination = standardError() } = options;
  const log = pino(
    {
      level: options.level ?? 'info',
      base: { name: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: contextFields,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => copyInto({}, fields, 0),
      },
      // `formatters.log` has already described errors, with their causes.
      serializers: { err: (err: unknown) => err },
      hooks: {
        logMethod([fields, message], method, level) {
          method.call(this, fields, redactText(String(message)));
          if (level >= WARN) destination.flush?.();
        },
      },
    },
    destination,
  );
  // pino formats the fields of lines and of the root, but not those of children. Children inherit this method.
  const { child } = log;
  log.child = function (this: typeof log, fields: Record<string, unknown>) {
    return child.call(this, copyInto({}, fields, 0));
  } as typeof log.child;
  return log;
}

const WARN = pino.levels.values['warn'] ?? 0;

function contextFields(): object {
  const context = currentContext();
  return context === undefined ? {} : { request_id: context.requestId, traceparent: context.traceparent };
}

const MAX_DEPTH = 8;

/** A JSON-safe copy without secrets; errors with their causes. */
function describe(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  // The limit also ends cycles.
  if (depth > MAX_DEPTH) return '…';
  if (types.isNativeError(value)) return describeError(value, depth);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (Array.isArray(value)) return value.map((each) => describe(each, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return describe(value.toJSON(), depth + 1);
  return copyInto({}, value, depth);
}

function copyInto(copy: Record<string, unknown>, fields: object, depth: number): Record<string, unknown> {
  for (const name of Object.keys(fields)) {
    copy[name] = isSecretName(name) ? REDACTED : describe(Reflect.get(fields, name), depth + 1);
  }
  return copy;
}

// The fields of an error that are logged. Others, such as PostgreSQL's `detail` and a Fault's `details`, quote data.
const LOGGED_FIELDS = ['code', 'kind', 'errno', 'syscall', 'address', 'port', 'schema', 'table', 'constraint'];

function describeError(error: Error, depth: number): Record<string, unknown> {
  const described: Record<string, unknown> = {
    type: error.name,
    message: redactText(error.message),
  };
  for (const name of LOGGED_FIELDS) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === 'string' || typeof value === 'number') described[name] = value;
  }
  // A Fault is an answer to the caller: where it was thrown matters only when it reports a bug.
  if (error.stack !== undefined && !(error instanceof Fault && error.kind !== 'internal')) {
    described.stack = redactText(error.stack);
  }
  if (error.cause !== undefined) described.cause = describe(error.cause, depth + 1);
  if ('errors' in error) described.errors = describe(error.errors, depth + 1);
  return described;
}

const REDACTED = '[redacted]';

/**
 * Whether a field of this name holds a secret, in any spelling: `x-service-api-key`, `apiKey`, `S3_SECRET_KEY`.
 * A second line of defence: the first is not to log secrets.
 */
export function isSecretName(name: string): boolean {
  return /(authorization|cookie|apikey|token|password|secret|secretkey|pepper|signature)$/.test(
    name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''),
  );
}

/** The text without signatures of presigned URLs, passwords of connection URLs, bearer tokens and API keys. */
function redactText(text: string): string {
  if (!/[=@$]|bearer/i.test(text)) return text;
  return text
    .replaceAll(/([?&](?:x-amz-)?(?:signature|token)=)[^&\s"'<>]+/gi, `$1${REDACTED}`)
    .replaceAll(/(:\/\/[^\s:/?#@]*:)[^\s/?#]+@/g, `$1${REDACTED}@`)
    .replaceAll(/\b(Bearer)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    .replaceAll(/\b([0-9a-z]{7}\$)[0-9A-Za-z]{43}/g, `$1${REDACTED}`);
}

const STANDARD_ERROR = 2;
const BUFFER_BYTES = 8 * 1024;
const FLUSH_MS = 50;
/** Lines beyond this are dropped while standard error cannot be written. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

interface BufferedDestination extends DestinationStream {
  /** Writes what is buffered. */
  flush(): void;
}

let destination: BufferedDestination | undefined;

/**
 * Standard error, written when the buffer is full, after a moment, on `flush` and at exit. Writes are synchronous, so a
 * slow reader is waited for. When nothing can be written, as to a closed terminal or a full disk, lines are lost and the
 * process goes on.
 */
function standardError(): BufferedDestination {
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
