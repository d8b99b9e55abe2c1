import { gauge, cachedFor } from '@call-analysis/runtime';
import type { ConsumerDepth } from '../port.ts';

const labels = ['service', 'consumer'] as const;
const gauges = {
  waiting: gauge('events_waiting', 'Events that wait for a consumer; beyond 50,000 jobs an estimate.', labels),
  active: gauge('events_in_progress', 'Events that a consumer is handling.', labels),
  dead: gauge('dead_letters', 'Events that were given up, counted up to 50,000.', labels),
  oldestSeconds: gauge('oldest_event_seconds', 'Age of the oldest waiting event.', labels),
};

/** Counting a long queue takes tens of milliseconds, and fresher figures are of no use. */
const CACHE_MS = 10_000;

/** Exports the depths as metrics until the returned function is called. */
export function exportDepths(service: string, readDepths: () => Promise<ConsumerDepth[]>): () => void {
  const cached = cachedFor(CACHE_MS, readDepths);
  const sources = (['waiting', 'active', 'dead', 'oldestSeconds'] as const).map((figure) =>
    gauges[figure].from(async () =>
      (await cached()).map((depth) => ({ labels: [service, depth.consumer] as const, value: depth[figure] ?? 0 })),
    ),
  );
  return () => {
    for (const remove of sources) remove();
  };
}
