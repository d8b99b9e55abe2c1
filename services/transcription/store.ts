import type { Database, Sql } from '@call-analysis/postgres';

/** Since when the speech engine is away, for all processes. */
export function openOutageStore(db: Pick<Database, 'query'>) {
  return {
    /** Returns how long it has been away. */
    async note(): Promise<number> {
      const rows = await db.query<{ ms: number }>(
        `INSERT INTO engine_outage (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 1
         RETURNING (extract(epoch FROM now() - since) * 1000)::float8 AS ms`,
      );
      return rows[0]!.ms;
    },

    async end(tx: Sql): Promise<void> {
      await tx.query('DELETE FROM engine_outage');
    },
  };
}

export type OutageStore = ReturnType<typeof openOutageStore>;
