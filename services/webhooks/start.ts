import { redeliveryWindowDays } from '@call-analysis/bus';
import { pruneProcessed } from '@call-analysis/call-processing';
import { publishedBy } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { cachedFor, gauge } from '@call-analysis/runtime';
import { defineService } from '@call-analysis/service';
import { type Resolve, resolveBySystem } from './addresses/public-address.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { deliveries as deliveriesIn, type Deliveries } from './deliveries/delivery-store.ts';
import { endpoints as endpointsIn, type Endpoints } from './endpoints/endpoint-store.ts';
import { webhookService } from './grpc.ts';
import { openHttpSender } from './sending/http-sender.ts';
import { leases } from './sending/lease-store.ts';
import { runSender, type SenderOptions } from './sending/sender.ts';

const ROWS_PER_STATEMENT = 5_000;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
const KEPT_DAYS = 30;

/** Removes what is left of deleted endpoints, and fails what waits for disabled ones. */
async function settleEndpoints(endpoints: Endpoints, deliveries: Deliveries): Promise<void> {
  await repeat((limit) => endpoints.removeDeleted(limit));
  await repeat((limit) => deliveries.failDisabled(limit));
}

/** Removes deliveries after 30 days, and the claims and tombstones of events that can no longer be redelivered. */
async function sweep(db: Database, deliveries: Deliveries, redeliveryDays: number): Promise<void> {
  await repeat((limit) => deliveries.prune(KEPT_DAYS, limit));
  await pruneProcessed(db, redeliveryDays);
}

async function repeat(remove: (limit: number) => Promise<number>): Promise<void> {
  const deadline = Date.now() + RUN_MS;
  while ((await remove(ROWS_PER_STATEMENT)) === ROWS_PER_STATEMENT && Date.now() < deadline);
}

const states = gauge('webhook_endpoints', 'Webhooks of firms: enabled, or the reason why they are not.', ['state']);
const oldest = gauge('webhook_oldest_due_seconds', 'For how long the oldest delivery that is due has waited.', []);

const CACHE_MS = 30_000;

/** Reports the state of webhooks until the returned function is called. */
function watchWebhooks(endpoints: Endpoints, deliveries: Deliveries): () => void {
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

export type { Config } from './config.ts';

type Deps = Parameters<typeof webhookService>[0];

interface Replacements {
  /** Resolves names in tests. */
  readonly resolve: Resolve;
  /** The time for an answer, in tests. */
  readonly answerMs: number;
  readonly sender: Partial<SenderOptions>;
}

/** When the service closes, attempts in progress have this long to end; then another process repeats them. */
const CLOSE_MS = 5_000;

export const { schema, migrations, events, prepare, start } = defineService<Config, Deps, Replacements>({
  name: 'webhooks',
  migrations: new URL('./prisma/migrations', import.meta.url),
  publishes: publishedBy('webhooks'),
  consumers,
  firmData: ({ db, endpoints }) => ({
    rows: [(tx, firmUuid, limit) => endpoints.removeOfFirm(tx, firmUuid, limit)],
    // Nothing is sent to them any more.
    stop: (firmUuid) => db.transaction((tx) => endpoints.markDeletedOfFirm(tx, firmUuid)),
  }),
  open({ config: { allowPrivate }, log, db, bus, closing }, { resolve = resolveBySystem, answerMs, sender: options }) {
    const [endpoints, deliveries] = [endpointsIn(db), deliveriesIn(db)];
    closing.add('metrics of webhooks', watchWebhooks(endpoints, deliveries));
    const http = openHttpSender({ allowPrivate, resolve, ...(answerMs !== undefined && { answerMs }) });
    closing.add('connections to endpoints', () => http.close());
    const sender = runSender({ leases: leases(db), http, log }, options);
    closing.add('sender', () => sender.close(CLOSE_MS));
    return { db, endpoints, deliveries, bus, sender, urlRules: { allowPrivate, resolve } };
  },
  rpcs: (deps) => [webhookService(deps)],
  schedules: ({ db, endpoints, deliveries }, { bus }) => [
    { name: 'deleted and disabled webhooks', everyMs: 5_000, run: () => settleEndpoints(endpoints, deliveries) },
    { name: 'sweep', everyMs: 10 * 60_000, run: () => sweep(db, deliveries, redeliveryWindowDays(bus)) },
  ],
});
