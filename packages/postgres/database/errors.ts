import { Fault, unavailable } from '@call-analysis/fault';
import { isUntrusted } from './connection-advice.ts';

// SQLSTATE classes and codes that say "not now" rather than "not like this":
// 08 connection, 53 out of disk, memory or connections, 57P01–57P05 shutting down, starting up or cut off.
const transientState = /^(?:08|53|57P0[1-5])/;

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

// pg reports these as plain errors without a code.
const driverMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end',
];

// Prisma's words for the same, its client's (codes) and its adapter's (kinds).
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037']);
const prismaKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);

/**
 * The five characters by which PostgreSQL names an error, such as `23505` for a unique violation, whether pg or Prisma
 * reports it.
 */
export function sqlState(error: unknown): string | undefined {
  const byPg = property(error, 'severity') !== undefined;
  const code = byPg ? property(error, 'code') : adapterCause(error, 'originalCode');
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether the connection, rather than the statement, is what failed. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof Fault) return false;
  const state = sqlState(error);
  if (state !== undefined) return transientState.test(state);
  const code = property(error, 'code');
  if (typeof code === 'string' && (networkCodes.has(code) || prismaCodes.has(code) || isUntrusted(code))) return true;
  const kind = adapterCause(error, 'kind');
  if (typeof kind === 'string' && prismaKinds.has(kind)) return true;
  const message = property(error, 'message');
  return typeof message === 'string' && driverMessages.some((start) => message.startsWith(start));
}

/** A Fault `unavailable` for a failed connection, with the error as its cause; any other error as it stands. */
export function translateError(error: unknown): unknown {
  return isUnreachable(error) ? unavailable('PostgreSQL', error) : error;
}

/** Prisma keeps what its adapter threw in the error's metadata, and that has PostgreSQL's words in its cause. */
function adapterCause(error: unknown, name: string): unknown {
  const thrown = property(property(error, 'meta'), 'driverAdapterError') ?? error;
  return property(property(thrown, 'cause'), name);
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
