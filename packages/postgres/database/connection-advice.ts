import { StartFault } from '@call-analysis/runtime';
import type { Client, PoolClient } from 'pg';

/**
 * What is the matter with how the URL leads to PostgreSQL, as a StartFault that says what to change; any other error as it
 * stands.
 */
export function adviceOn(error: unknown): unknown {
  const { code = '', message = '', path } = Object(error) as { code?: string; message?: string; path?: string };
  const sentence = sentenceFor(code, message, path);
  return sentence === undefined ? error : new StartFault(sentence, { cause: error });
}

function sentenceFor(code: string, message: string, path: string | undefined): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'PostgreSQL shows a certificate that was made out to another name than the host in DATABASE_URL.';
  }
  if (/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) return 'PostgreSQL shows a certificate that is not valid today.';
  if (isUntrusted(code)) {
    return (
      `PostgreSQL shows a certificate that no authority we know vouches for (${code}). Name its authority in DATABASE_URL: ` +
      '?sslmode=verify-full&sslrootcert=/path/to/ca.pem'
    );
  }
  if (/does not support SSL/.test(message))
    return 'PostgreSQL does not offer TLS, and the sslmode in DATABASE_URL asks for it.';
  if (/^(ENOENT|EACCES|EISDIR)$/.test(code) && path !== undefined)
    return `DATABASE_URL names ${path}, which cannot be read (${code}).`;
  if (/unsupported startup parameter/.test(message)) {
    return 'DATABASE_URL leads to a pooler that refuses what we ask of a connection (options). Name PostgreSQL itself there.';
  }
  return undefined;
}

/** Whether a certificate is refused because of who vouches for it. */
export function isUntrusted(code: string): boolean {
  return /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_(UNTRUSTED|SIGNATURE_FAILURE)$/.test(code);
}

type Connection = Pick<Client | PoolClient, 'query'>;

/**
 * StartFault when a pooler gives the same process of PostgreSQL to one transaction and then to another connection's. Locks
 * of sessions and notices, by which processes of one service agree, would not hold then. `another` opens a connection
 * beside the first; it is asked for only where there is a pooler at all.
 */
export async function refuseSharedProcesses(first: Connection, another: () => Promise<Connection>): Promise<void> {
  const process = await processOf(first);
  // What the server itself said as the connection was made; a pooler says a number of its own.
  if (process === (first as { processID?: number | null }).processID) return;
  const isShared = (await processOf(await another())) === process || (await processOf(first)) !== process;
  if (!isShared) return;
  throw new StartFault(
    'DATABASE_URL leads to a pooler that shares out connections by the transaction, as PgBouncer does with pool_mode=transaction. ' +
      'Name PostgreSQL itself there.',
  );
}

async function processOf(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}
