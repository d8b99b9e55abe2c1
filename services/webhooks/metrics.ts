import { cachedFor, gauge } from '@call-analysis/runtime';
import type { Deliveries } from './deliveries/delivery-store.ts';
import type { Endpoints } from './endpoints/endpoint-store.ts';

const states = gauge('webhook_endpoints', 'Webhooks of firms: enabled, or the reason why they are not.', ['state']);
const oldest = gauge('webhook_oldest_due_seconds', 'For how long the oldest delivery that is due has waited.', []);

const CACHE_MS = 30_000;

/** Reports the state of webhooks until the returned function is called. */
export function watchWebhooks(endpoints: Endpoints, deliveries: Deliveries): () => void {
  const counts = cachedFor(CACHE_MS, () => endpoints.countByState());
  const age = cachedFor(CACHE_MS, () => deliveries.oldestDueSeconds());
  const sources = [
    states.from(async () => (await counts()).map(({ state, count }) => ({ labels: [state], value: count }))),
    oldest.from(async () => [{ labels: [], value: (await age()) ?? 0 }]),
  ];
  return () => {
    for (const remove of sources) remove();
  };
}
