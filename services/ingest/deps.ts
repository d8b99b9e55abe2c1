import type { Bus } from '@call-analysis/bus';
import type { Objects } from '@call-analysis/objects';
import { type Database, openDatabase, type SessionLimits } from '@call-analysis/postgres';
import type { Logger } from '@call-analysis/runtime';
import type { FirmsClient } from '@call-analysis/service/firms';
import { announcements } from './batches/announcement-store.ts';
import { batches } from './batches/batch-store.ts';
import { AnalysisBodies } from './calls/analysis-body-store.ts';
import { calls } from './calls/call-store.ts';
import { recordings } from './calls/recording-store.ts';
import { transcripts } from './calls/transcript-store.ts';
import { campaigns } from './campaigns/campaign-store.ts';
import { comments } from './comments/comment-store.ts';
import { calibrations } from './desk/calibration-store.ts';
import { disputes } from './desk/dispute-store.ts';
import { reviewQueue } from './desk/queue/queue-store.ts';
import { sampling } from './desk/sampling/sampling-store.ts';
import { views } from './desk/view-store.ts';
import { erasures } from './erasure/erasure-store.ts';
import { exports } from './export/export-store.ts';
import { rejectedFiles } from './intake/rejected/rejected-file-store.ts';
import { uploads } from './intake/upload-store.ts';
import { jobs } from './jobs/job-store.ts';
import type { Limits } from './limits.ts';
import { CarryOver } from './listing/carry-over-store.ts';
import { listing } from './listing/listing-store.ts';
import { openPrisma } from './prisma.ts';
import { results } from './results/result-store.ts';
import { retained } from './retention/retention-store.ts';
import { reviews } from './reviews/review-store.ts';
import type { dialScorecards } from './reviews/scorecards.ts';
import { words } from './search/word-store.ts';
import { statistics } from './statistics/statistic-store.ts';

/** Copying the rows of a large batch is one statement, and its file is read between two statements of a transaction. */
const INTAKE_LIMITS: SessionLimits = { statementMs: 60 * 60_000, idleInTransactionMs: 10 * 60_000 };

/**
 * The stores, each of which sends the SQL of a part of the tables. At most `intakes` batch uploads are written at the
 * same time, and the others wait: more than 4 would only share the processor.
 */
export function openStores(db: Database, url: string, { intakes = 4 } = {}) {
  const prisma = openPrisma(db);
  const bodies = new AnalysisBodies();
  const carryOver = new CarryOver(db, bodies);
  // A batch upload may hold its connection for minutes. Its own pool keeps the rest of the service from waiting.
  const intake = openDatabase({
    url,
    schema: db.schema,
    poolSize: intakes,
    connectTimeoutMs: 0,
    limits: INTAKE_LIMITS,
    cipher: db.cipher,
    applicationName: 'ingest intake',
  });
  return {
    db,
    intake,
    announcements: announcements(db),
    batches: batches(prisma, db),
    calibrations: calibrations(db),
    calls: calls(db, bodies),
    campaigns: campaigns(db),
    carryOver,
    comments: comments(db),
    disputes: disputes(db),
    erasures: erasures(db),
    exports: exports(db, bodies),
    jobs: jobs(db),
    listing: listing(db, bodies, carryOver),
    queue: reviewQueue(db, carryOver),
    recordings: recordings(db),
    rejectedFiles: rejectedFiles(prisma, db),
    results: results(bodies),
    retained: retained(db, bodies),
    reviews: reviews(db, bodies),
    sampling: sampling(db, carryOver),
    statistics: statistics(db, carryOver),
    transcripts: transcripts(db),
    uploads: uploads(prisma, db),
    views: views(db),
    words: words(db),
    close: async () => {
      await intake.close();
      await prisma.$disconnect();
    },
  };
}

export type Stores = ReturnType<typeof openStores>;

/** What the use cases are given; each names the few that it needs. */
export interface Deps extends Stores {
  readonly bus: Bus;
  readonly objects: Objects;
  readonly firms: FirmsClient;
  readonly scorecards: ReturnType<typeof dialScorecards>;
  readonly limits: Limits;
  readonly log: Logger;
}
