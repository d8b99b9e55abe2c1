import { redeliveryWindowDays } from '@call-analysis/bus';
import { pruneProcessed } from '@call-analysis/call-processing';
import { AuditEntryAdded, CallAnalyzed, CallFailed } from '@call-analysis/events';
import { defineService } from '@call-analysis/service';
import type { Analyst } from './analysts/analyst.ts';
import { ruleAnalyst } from './analysts/rule-analyst.ts';
import { warmUp } from './analysts/warm-up.ts';
import type { Parts as AnalysisParts } from './calls/analyze-calls.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { dialFirms } from './firms.ts';
import { scorecardService } from './grpc.ts';
import { ScorecardCache } from './scorecards/scorecard-cache.ts';
import { openStore } from './store.ts';

export type { Config } from './config.ts';

interface Parts extends AnalysisParts {
  readonly firms: ReturnType<typeof dialFirms>;
}

export const { schema, migrations, events, prepare, start } = defineService<Config, Parts, { analyst: Analyst }>({
  name: 'analysis',
  migrations: new URL('./prisma/migrations', import.meta.url),
  publishes: [AuditEntryAdded, CallAnalyzed, CallFailed],
  consumers,
  open({ config, log, db, bus, objects, closing }, { analyst = ruleAnalyst }) {
    const firms = dialFirms(config.keyManagement, { tls: config.tls, log });
    closing.add('key-management client', () => firms.close());
    closing.add('warm-up', warmUp());
    return { store: openStore(db), bus, objects, analyst, scorecardCache: new ScorecardCache(), firms };
  },
  rpcs: ({ store, firms, bus }) => [scorecardService({ store, firms, bus })],
  // Calls are scored without it; only new scorecards have to wait.
  dependencies: ({ firms }) => [{ name: 'key-management', vital: false, check: () => firms.ready() }],
  schedules: ({ store }, { bus }) => [
    { name: 'sweep', everyMs: 3_600_000, run: () => pruneProcessed(store.db, redeliveryWindowDays(bus)) },
  ],
});
