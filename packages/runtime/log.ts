import { types } from 'node:util';
import { Fault } from '@call-analysis/fault';
import { destination, type DestinationStream, pino, type Logger as PinoLogger } from 'pino';
import { currentContext } from './context.ts';
import { isSecretName, REDACTED, redactText } from './redaction.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Fields first, then a sentence. An Error goes under `err`. Bodies, keys, names and phone numbers never go in. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
}

/**
 * JSON lines on standard error, because standard output belongs to the `ready` line and to the output of commands.
 * Lines are written synchronously, so that the last ones before an exit are there.
 */
export function createLog(options: { name: string; level?: LogLevel; destination?: DestinationStream }): Logger {
  return loggerOver(
    pino(
      {
        level: options.level ?? 'info',
        base: { name: options.name, pid: process.pid },
        timestamp: () => `,"time":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        // Errors have been described before they get here; pino's own serialiser would describe them again.
        serializers: { err: (err: unknown) => err },
        mixin: () => {
          const context = currentContext();
          return context === undefined ? {} : { request_id: context.requestId, traceparent: context.traceparent };
        },
      },
      options.destination ?? destination({ fd: 2, sync: true }),
    ),
  );
}

function loggerOver(lines: PinoLogger): Logger {
  const writer = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (!lines.isLevelEnabled(level)) return;
    lines[level](describe(types.isNativeError(fields) ? { err: fields } : fields, 0), redactText(message));
  };
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    child: (fields) => loggerOver(lines.child(describe(fields, 0) as Record<string, unknown>)),
  };
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
  const copy: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) {
    copy[name] = isSecretName(name) ? REDACTED : describe(each, depth + 1);
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
