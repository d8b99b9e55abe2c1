/** When PostgreSQL ends what a connection does. 0 is never. */
export interface SessionLimits {
  /** A statement that takes longer is canceled. Copying rows in is one statement. */
  readonly statementMs: number;
  /** A transaction that is left open for longer without a statement is rolled back, and its connection closed. */
  readonly idleInTransactionMs: number;
}

/** Requests and events have given up long before. A transaction that waits for nothing in PostgreSQL holds its locks. */
export const USUAL_LIMITS: SessionLimits = { statementMs: 5 * 60_000, idleInTransactionMs: 2 * 60_000 };

/** For the creation of tables and indexes, which may take hours. */
export const MIGRATION_LIMITS: SessionLimits = { statementMs: 0, idleInTransactionMs: 30 * 60_000 };

/** The limits as `options` of a connection. */
export function limitOptions({ statementMs, idleInTransactionMs }: SessionLimits = USUAL_LIMITS): string {
  return `-c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=${idleInTransactionMs}`;
}
