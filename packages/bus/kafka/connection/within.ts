import { unavailable } from '@call-analysis/fault';
import { settlesWithin } from '@call-analysis/runtime';

/** Rejects with Fault UNAVAILABLE when the work takes longer; the work itself continues. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  if (!(await settlesWithin(work, ms))) throw unavailable('Kafka');
  return work;
}
