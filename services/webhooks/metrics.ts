import { cachedFor, counter, gauge } from '@call-analysis/runtime';
import type { Store } from './store.ts';

const attempts = counter('webhook_attempts_total', 'Attempts to deliver an event, by what came of them.', ['result']);

export function countAttempt(result: 'delivered' | 'refused' | 'timeout' | 'unreachable'): void {
  attempts.of(result).add();
}

const endpoints = gauge('webhook_endpoints', 'Webhooks of firms: enabled, or the reason why they are not.', ['state']);
const oldest = gauge('webhook_oldest_due_seconds', 'For how long the oldest delivery that is due has waited.', []);

const CACHE_MS = 30_000;

/** Reports the state of webhooks until the returned function is called. */
export function watchWebhooks(store: Store): () => void {
  const states = cachedFor(CACHE_MS, () => store.endpoints.countByState());
  const age = cachedFor(CACHE_MS, () => store.deliveries.oldestDueSeconds());
  const sources = [
    endpoints.from(async () => (await states()).map(({ state, count }) => ({ labels: [state], value: count }))),
    oldest.from(async () => [{ labels: [], value: (await age()) ?? 0 }]),
  ];
  return () => {
    for (const remove of sources) remove();
  };
}
