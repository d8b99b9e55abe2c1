import { redeliveryWindowDays } from '@call-analysis/bus';
import { publishedBy } from '@call-analysis/events';
import { shareConnections, type Sql } from '@call-analysis/postgres';
import { cachedFor, gauge } from '@call-analysis/runtime';
import { defineService } from '@call-analysis/service';
import { dialFirms } from '@call-analysis/service/firms';
import { batchFinisher, campaignFinisher } from './batches/publish-finished.ts';
import { maintainCampaigns } from './campaigns/maintain-campaigns.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { type Deps, openStores } from './deps.ts';
import { deskService } from './desk/desk-rpcs.ts';
import { chooseCalls } from './desk/sampling/choose-calls.ts';
import { firmRows } from './erasure/erasure-store.ts';
import { rpcs } from './grpc.ts';
import { runJobs } from './jobs/run-jobs.ts';
import { countByStatus } from './listing/listing-store.ts';
import { retentionSweep } from './retention/apply-retention.ts';
import { dialScorecards } from './reviews/scorecards.ts';
import { maintainStatistics } from './statistics/maintain-statistics.ts';
import { sweep } from './sweep.ts';

export type { Config } from './config.ts';

/** Closing waits only for the group of calls in progress, not for the whole job. */
const JOBS_MS = 5_000;

export const { schema, migrations, events, prepare, start } = defineService<Config, Deps>({
  name: 'ingest',
  migrations: new URL('./prisma/migrations', import.meta.url),
  publishes: publishedBy('ingest'),
  consumers,
  firmData: () => ({
    rows: firmRows,
    // Recordings are the audio service's. `facts` are bodies of events that were too large for a broker.
    folders: (firmUuid, country) => [
      `${country}/${firmUuid}/`,
      `frozen/${firmUuid}/`,
      `rejected/${firmUuid}/`,
      `transcripts/${firmUuid}/`,
      `facts/${firmUuid}/`,
    ],
  }),
  open({ config, log, db, bus, objects, closing }) {
    const stores = openStores(db, config.databaseUrl, { intakes: shareConnections(config.connections).long });
    closing.add('stores', () => stores.close());
    closing.add('metrics of the calls', watchCalls(db));
    const firms = dialFirms(config.keyManagement, { tls: config.tls, log });
    closing.add('key-management client', () => firms.close());
    const scorecards = dialScorecards(config.analysis, { tls: config.tls, log });
    closing.add('analysis client', () => scorecards.close());
    return { ...stores, bus, objects, firms, scorecards, limits: config.limits, log };
  },
  rpcs: (deps) => [rpcs(deps), deskService(deps)],
  // Lists, uploads and results do not need the firm's settings; processing an upload does, and is refused until then.
  dependencies: ({ firms, scorecards }) => [
    { name: 'key-management', vital: false, check: () => firms.ready() },
    // Only a review needs it.
    { name: 'analysis', vital: false, check: () => scorecards.ready() },
  ],
  schedules: (deps, { bus }) => [
    {
      name: 'sweep',
      everyMs: 10 * 60_000,
      run: (now) => sweep({ ...deps, claimDays: redeliveryWindowDays(bus) }, now),
    },
    { name: 'retention', everyMs: 10_000, run: retentionSweep(deps, deps.firms) },
    {
      name: 'jobs',
      everyMs: 1_000,
      run: (now) => runJobs(deps, () => Date.now() > now.getTime() + JOBS_MS),
    },
    // A run indexes for a second of two, so that while much waits, half of the time is left to others.
    { name: 'indexing words', everyMs: 2_000, run: () => deps.words.indexAll(1_000) },
    { name: 'carrying calls over for lists', everyMs: 1_000, run: () => deps.carryOver.run(deps.log) },
    { name: 'plans of lists', everyMs: 5_000, run: () => deps.listing.refreshPlans() },
    { name: 'statistics', everyMs: 5_000, run: () => maintainStatistics(deps) },
    { name: 'samples', everyMs: 30_000, run: (now) => chooseCalls(deps, now) },
    { name: 'stored bytes', everyMs: 5_000, run: () => deps.uploads.foldStoredBytes() },
    { name: 'campaigns', everyMs: 5_000, run: () => maintainCampaigns(deps) },
    { name: 'finished campaigns', everyMs: 2_000, run: campaignFinisher(deps) },
    { name: 'finished batches', everyMs: 1_000, run: batchFinisher(deps) },
  ],
});

const CALLS_CACHED_MS = 30_000;
const callsGauge = gauge('calls', 'Calls in the catalogue by status, at most half a minute old.', ['status']);

/** Exposes the number of calls by status until the returned function is called. */
function watchCalls(db: Sql): () => void {
  const counts = cachedFor(CALLS_CACHED_MS, () => countByStatus(db));
  return callsGauge.from(async () => (await counts()).map(({ status, calls }) => ({ labels: [status], value: calls })));
}
