import { gauge } from '@call-analysis/runtime';
import type { Pool } from 'pg';

const connections = gauge('database_connections', 'Connections of a pool, by what they do.', ['service', 'state']);
const limit = gauge('database_connections_limit', 'Connections that a pool may have.', ['service']);
const waiting = gauge('database_waiting_statements', 'Statements and transactions that wait for a connection.', [
  'service',
]);

/** Reports the use of a pool under its owner's name, until the returned function is called. */
export function measurePool(service: string, pool: Pool): () => void {
  const sources = [
    connections.from(() => [
      { labels: [service, 'busy'], value: pool.totalCount - pool.idleCount },
      { labels: [service, 'idle'], value: pool.idleCount },
    ]),
    limit.from(() => [{ labels: [service], value: pool.options.max }]),
    waiting.from(() => [{ labels: [service], value: pool.waitingCount }]),
  ];
  return () => {
    for (const remove of sources) remove();
  };
}
