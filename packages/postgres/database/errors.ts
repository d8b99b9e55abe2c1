import { Fault, isConnectionCode, unavailable } from '@call-analysis/fault';
import { isUntrusted } from './connection-advice.ts';

// SQLSTATE classes and codes of temporary failures:
// 08 connection, 53 out of disk, memory or connections, 57P01–57P05 shutting down, starting up or disconnected, 25P03 the
// connection was closed because its transaction was left open.
const transientState = /^(?:08|53|57P0[1-5]|25P03)/;

// pg reports these as plain errors without a code.
const driverMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end',
];

// The same failures as reported by Prisma's client (codes) and by its adapter (kinds).
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037']);
const prismaKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);

/**
 * The five-character code of a PostgreSQL error, such as `23505` for a unique violation, whether pg or Prisma reports it.
 */
export function sqlState(error: unknown): string | undefined {
  const byPg = property(error, 'severity') !== undefined;
  const code = byPg ? property(error, 'code') : adapterCause(error, 'originalCode');
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether the connection failed and not the statement. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof Fault) return false;
  const state = sqlState(error);
  if (state !== undefined) return transientState.test(state);
  const code = property(error, 'code');
  if (typeof code === 'string' && (isConnectionCode(code) || prismaCodes.has(code) || isUntrusted(code))) return true;
  const kind = adapterCause(error, 'kind');
  if (typeof kind === 'string' && prismaKinds.has(kind)) return true;
  const message = property(error, 'message');
  return typeof message === 'string' && driverMessages.some((start) => message.startsWith(start));
}

/** A Fault `unavailable` for a failed connection, with the error as its cause. Any other error is returned unchanged. */
export function translateError(error: unknown): unknown {
  return isUnreachable(error) ? unavailable('PostgreSQL', error) : error;
}

/** Prisma keeps its adapter's error in the metadata, whose cause describes PostgreSQL's error. */
function adapterCause(error: unknown, name: string): unknown {
  const thrown = property(property(error, 'meta'), 'driverAdapterError') ?? error;
  return property(property(thrown, 'cause'), name);
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
