import { Fault, isConnectionCode, unavailable } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import type { Client, PoolClient } from 'pg';

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

/**
 * A StartFault that says what to change when DATABASE_URL causes the error. Any other error is returned unchanged.
 */
export function adviceOn(error: unknown): unknown {
  const { code = '', message = '', path } = Object(error) as { code?: string; message?: string; path?: string };
  const sentence = sentenceFor(code, message, path);
  return sentence === undefined ? error : new StartFault(sentence, { cause: error });
}

function sentenceFor(code: string, message: string, path: string | undefined): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return "PostgreSQL's certificate is for another name than the host in DATABASE_URL.";
  }
  if (/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) return "PostgreSQL's certificate is not valid today.";
  if (isUntrusted(code)) {
    return (
      `PostgreSQL's certificate is signed by an unknown authority (${code}). Name the authority in DATABASE_URL: ` +
      '?sslmode=verify-full&sslrootcert=/path/to/ca.pem'
    );
  }
  if (/does not support SSL/.test(message))
    return 'PostgreSQL does not offer TLS, and the sslmode in DATABASE_URL requires it.';
  if (/^(ENOENT|EACCES|EISDIR)$/.test(code) && path !== undefined)
    return `DATABASE_URL names ${path}, which cannot be read (${code}).`;
  if (/unsupported startup parameter/.test(message)) {
    return 'DATABASE_URL names a pooler that refuses the `options` of a connection. Name PostgreSQL itself there.';
  }
  return undefined;
}

/** Whether a certificate is refused because of its authority. */
function isUntrusted(code: string): boolean {
  return /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_(UNTRUSTED|SIGNATURE_FAILURE)$/.test(code);
}

type Connection = Pick<Client | PoolClient, 'query'>;

/**
 * Rejects with StartFault when a pooler lets several connections share a PostgreSQL process from transaction to
 * transaction. Session locks and LISTEN, which coordinate the processes of a service, would not work then. `another` opens
 * a second connection; it is called only when there is a pooler.
 */
export async function refuseSharedProcesses(first: Connection, another: () => Promise<Connection>): Promise<void> {
  const process = await processOf(first);
  // The id that was sent when the connection was made. A pooler sends an id of its own.
  if (process === (first as { processID?: number | null }).processID) return;
  const isShared = (await processOf(await another())) === process || (await processOf(first)) !== process;
  if (!isShared) return;
  throw new StartFault(
    'DATABASE_URL names a pooler that shares connections between transactions, as PgBouncer does with pool_mode=transaction. ' +
      'Name PostgreSQL itself there.',
  );
}

async function processOf(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}
