import { setTimeout as pause } from 'node:timers/promises';
import { unavailable } from '@call-analysis/fault';

/** Rejects with Fault UNAVAILABLE when Kafka takes longer; what was begun goes on without anybody who waits for it. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = pause(ms, undefined, { signal: over.signal }).then(() => {
    throw unavailable('Kafka');
  });
  return Promise.race([work, late]).finally(() => over.abort());
}
