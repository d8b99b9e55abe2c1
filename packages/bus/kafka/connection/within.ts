import { setTimeout as pause } from 'node:timers/promises';
import { unavailable } from '@call-analysis/fault';

/** Rejects with Fault UNAVAILABLE when the work takes longer; the work itself continues. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = pause(ms, undefined, { signal: done.signal }).then(() => {
    throw unavailable('Kafka');
  });
  return Promise.race([work, late]).finally(() => done.abort());
}
