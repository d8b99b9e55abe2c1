import { StartFault } from '@call-analysis/runtime';
import type { Client, PoolClient } from 'pg';

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
export function isUntrusted(code: string): boolean {
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
