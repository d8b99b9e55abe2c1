import { types } from 'node:util';
import { Fault } from '@call-analysis/fault';
import { type DestinationStream, pino, type Logger as PinoLogger } from 'pino';
import { currentContext } from './context.ts';
import { plainLine } from './plain-line.ts';
import { isSecretName, REDACTED, redactText } from './redaction.ts';
import { flushLog, type LineDestination, standardError } from './standard-error.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Fields first, then a sentence. An Error goes under `err`. Bodies, keys, names and phone numbers never go in. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
  /** Whether lines of this level are written: to be asked where there would be thousands a second. */
  writes?(level: 'debug' | 'info' | 'warn' | 'error'): boolean;
}

/**
 * JSON lines on standard error, because standard output belongs to the `ready` line and to the output of commands.
 * Warnings and errors are written at once, with what came before them; the rest is gathered for a moment, because a write
 * for every line costs as much as a request. An exit writes what is left.
 */
export function createLog(options: { name: string; level?: LogLevel; destination?: DestinationStream }): Logger {
  const destination: LineDestination = options.destination ?? standardError;
  const base = { name: options.name, pid: process.pid };
  const lines = pino(
    {
      level: options.level ?? 'info',
      base,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
      // Errors have been described before they get here; pino's own serialiser would describe them again.
      serializers: { err: (err: unknown) => err },
    },
    destination,
  );
  return loggerOver(lines, destination, membersOf(base));
}

/** `own` are the logger's own fields as they stand in each of its lines. */
function loggerOver(lines: PinoLogger, destination: LineDestination, own: string): Logger {
  // Plain fields are ASCII, so that the line is when the logger's own are.
  const isAscii = /^[ -~]*$/.test(own);
  const writePlain = (line: string) =>
    isAscii && destination.writeAscii !== undefined ? destination.writeAscii(line) : destination.write(line);
  const writer = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (!lines.isLevelEnabled(level)) return;
    const isError = types.isNativeError(fields);
    const plain = isError ? undefined : plainLine(currentContext(), fields, message);
    if (plain !== undefined) writePlain(`{"level":"${level}"${timestamp()}${own}${plain}`);
    else lines[level](described(isError ? { err: fields } : fields), redactText(message));
    if (level === 'warn' || level === 'error') flushLog();
  };
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    writes: (level) => lines.isLevelEnabled(level),
    child(fields) {
      const more = describe(fields, 0) as Record<string, unknown>;
      return loggerOver(lines.child(more), destination, own + membersOf(more));
    },
  };
}

/** `,"name":"value"` for each. */
function membersOf(fields: object): string {
  const text = JSON.stringify(fields);
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}

/** With what the line belongs to. */
function described(fields: object): object {
  const line: Record<string, unknown> = {};
  const context = currentContext();
  if (context !== undefined) {
    line['request_id'] = context.requestId;
    line['traceparent'] = context.traceparent;
  }
  return copyInto(line, fields, 0);
}

let millisecond = 0;
let written = '';

/** Many lines share a millisecond when writing them costs something. */
function timestamp(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    written = `,"time":"${new Date(now).toISOString()}"`;
  }
  return written;
}

const MAX_DEPTH = 8;

/** A JSON-safe copy without secrets; errors with their causes. */
function describe(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  // The bound also ends cycles.
  if (depth > MAX_DEPTH) return '…';
  if (types.isNativeError(value)) return describeError(value, depth);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (Array.isArray(value)) return value.map((each) => describe(each, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return describe(value.toJSON(), depth + 1);
  return copyInto({}, value, depth);
}

function copyInto(copy: Record<string, unknown>, fields: object, depth: number): object {
  for (const name of Object.keys(fields)) {
    copy[name] = isSecretName(name) ? REDACTED : describe(Reflect.get(fields, name), depth + 1);
  }
  return copy;
}

// Of an error's own fields only these are copied: others (PostgreSQL's `detail`, a Fault's `details`) quote the data.
const TELLING_FIELDS = ['code', 'kind', 'errno', 'syscall', 'address', 'port', 'schema', 'table', 'constraint'];

function describeError(error: Error, depth: number): Record<string, unknown> {
  const described: Record<string, unknown> = {
    type: error.name,
    message: redactText(error.message),
  };
  for (const name of TELLING_FIELDS) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === 'string' || typeof value === 'number') described[name] = value;
  }
  // A Fault is an answer to the caller; where it was made interests only when it is a bug.
  if (error.stack !== undefined && !(error instanceof Fault && error.kind !== 'internal')) {
    described.stack = redactText(error.stack);
  }
  if (error.cause !== undefined) described.cause = describe(error.cause, depth + 1);
  if ('errors' in error) described.errors = describe(error.errors, depth + 1);
  return described;
}
