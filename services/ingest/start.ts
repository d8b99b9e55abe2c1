import { redeliveryWindowDays } from '@call-analysis/bus';
import { publishedBy } from '@call-analysis/events';
import { shareConnections } from '@call-analysis/postgres';
import { defineService } from '@call-analysis/service';
import { dialFirms } from '@call-analysis/service/firms';
import { batchFinisher } from './batches/finish-batches.ts';
import { campaignFinisher } from './campaigns/finish-campaigns.ts';
import { maintainCampaigns } from './campaigns/maintain-campaigns.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import type { Deps } from './deps.ts';
import { deskService } from './desk/desk-rpcs.ts';
import { sampler } from './desk/sampling/choose-calls.ts';
import { firmRows } from './erasure/firm-store.ts';
import { rpcs } from './grpc.ts';
import { runJobs } from './jobs/run-jobs.ts';
import { watchCalls } from './metrics.ts';
import { retentionSettings, retentionSweep } from './retention/apply-retention.ts';
import { dialScorecards } from './reviews/scorecards.ts';
import { runIndexer } from './search/run-indexer.ts';
import { maintainStatistics } from './statistics/maintain-statistics.ts';
import { openStore } from './store/index.ts';
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
    const store = openStore(db, config.databaseUrl, { intakes: shareConnections(config.connections).long });
    closing.add('store', () => store.close());
    closing.add('metrics of the calls', watchCalls(db));
    const firms = dialFirms(config.keyManagement, { tls: config.tls, log });
    closing.add('key-management client', () => firms.close());
    const scorecards = dialScorecards(config.analysis, { tls: config.tls, log });
    closing.add('analysis client', () => scorecards.close());
    const indexer = runIndexer(store, log);
    closing.add('index of words', () => indexer.stop());
    store.carryOver.start(log);
    closing.add('calls that are carried over', () => store.carryOver.stop());
    return { store, bus, objects, firms, scorecards };
  },
  rpcs: (deps, { limits }) => [rpcs({ ...deps, limits }), deskService(deps)],
  // Lists, uploads and results do not need the firm's settings; processing an upload does, and is refused until then.
  dependencies: ({ firms, scorecards }) => [
    { name: 'key-management', vital: false, check: () => firms.ready() },
    // Only a review needs it.
    { name: 'analysis', vital: false, check: () => scorecards.ready() },
  ],
  schedules: (deps, { bus, limits }) => [
    {
      name: 'sweep',
      everyMs: 10 * 60_000,
      run: (now) => sweep({ ...deps, claimDays: redeliveryWindowDays(bus) }, now),
    },
    {
      name: 'retention',
      everyMs: 10_000,
      run: retentionSweep({ ...deps, limits }, retentionSettings(deps.firms)),
    },
    {
      name: 'jobs',
      everyMs: 1_000,
      run: (now) => runJobs({ ...deps, limits }, () => Date.now() > now.getTime() + JOBS_MS),
    },
    { name: 'plans of lists', everyMs: 5_000, run: () => deps.store.listing.refreshPlans() },
    { name: 'statistics', everyMs: 5_000, run: () => maintainStatistics(deps) },
    { name: 'samples', everyMs: 30_000, run: sampler(deps) },
    { name: 'stored bytes', everyMs: 5_000, run: () => deps.store.uploads.foldStoredBytes() },
    { name: 'campaigns', everyMs: 5_000, run: () => maintainCampaigns(deps) },
    { name: 'finished campaigns', everyMs: 2_000, run: campaignFinisher(deps) },
    { name: 'finished batches', everyMs: 1_000, run: batchFinisher(deps) },
  ],
});
