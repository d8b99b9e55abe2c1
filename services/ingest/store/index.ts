import { type Database, openDatabase, type SessionLimits } from '@call-analysis/postgres';
import { announcements } from '../batches/announcement-store.ts';
import { batches } from '../batches/batch-store.ts';
import { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { calls } from '../calls/call-store.ts';
import { recordings } from '../calls/recording-store.ts';
import { transcripts } from '../calls/transcript-store.ts';
import { campaignCalls } from '../campaigns/campaign-call-store.ts';
import { campaigns } from '../campaigns/campaign-store.ts';
import { tally } from '../campaigns/tally-store.ts';
import { comments } from '../comments/comment-store.ts';
import { erasures } from '../erasure/erasure-store.ts';
import { exports } from '../export/export-store.ts';
import { rejectedFilters } from '../intake/rejected/rejected-filter-store.ts';
import { uploads } from '../intake/upload-store.ts';
import { jobs } from '../jobs/job-store.ts';
import { CarryOver } from '../listing/carry-over-store.ts';
import { listing } from '../listing/listing-store.ts';
import { openPrisma } from '../prisma.ts';
import { results } from '../results/result-store.ts';
import { retained } from '../retention/retention-store.ts';
import { reviews } from '../reviews/review-store.ts';
import { words } from '../search/word-store.ts';
import { statistics } from '../statistics/statistic-store.ts';

/** Copying the rows of a large batch is one statement, and its file is read between two statements of a transaction. */
const INTAKE_LIMITS: SessionLimits = { statementMs: 60 * 60_000, idleInTransactionMs: 10 * 60_000 };

/**
 * Every access to this service's tables. A use case opens a transaction here and passes it to the methods of the
 * stores; it sends no SQL itself. At most `intakes` batch uploads are written at the same time, and the others wait:
 * more than 4 would only share the processor.
 */
export function openStore(db: Database, url: string, { intakes = 4 } = {}) {
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
    /** For the claims and tombstones of other packages, and for reads outside a transaction. */
    db,
    transaction: db.transaction.bind(db),
    uploads: uploads(prisma, db),
    batches: batches(prisma, db),
    announcements: announcements(db),
    calls: calls(db, bodies),
    recordings: recordings(db),
    carryOver,
    listing: listing(db, bodies, carryOver),
    exports: exports(db, bodies),
    words: words(db),
    statistics: statistics(db, carryOver),
    results: results(bodies),
    transcripts: transcripts(db),
    reviews: reviews(db, bodies),
    comments: comments(db),
    campaigns: campaigns(db),
    campaignCalls: campaignCalls(db),
    tally: tally(db),
    jobs: jobs(db),
    erasures: erasures(db),
    retained: retained(db, bodies),
    rejectedFilters: rejectedFilters(db),
    intake,
    close: async () => {
      await intake.close();
      await prisma.$disconnect();
    },
  };
}

export type Store = ReturnType<typeof openStore>;
export type { ArchivedCall } from '../batches/announcement-store.ts';
export type {
  AnnouncedBatch,
  Archive,
  Batch,
  BatchProgress,
  RejectedFile,
  UnfinishedBatch,
} from '../batches/batch-store.ts';
export type { CallRow, HistoryEntry } from '../calls/call-row.ts';
export { callLocked } from '../calls/call-store.ts';
export type { ExistingCall, UploadedTranscript } from '../calls/call-store.ts';
export type { Recording, StoredRecording } from '../calls/recording-store.ts';
export type { Campaign } from '../campaigns/campaign-store.ts';
export type { CallIdentity, Erasure, Removed } from '../erasure/erasure-store.ts';
export type { TranscribedCall } from '../calls/transcript-store.ts';
export { NO_FILTER } from '../listing/call-filter.ts';
export type { CallFilter, CallQuery, Count, Position, Sort } from '../listing/call-filter.ts';
export type { FilteredCalls } from '../listing/filter-sql.ts';
