import { type Database, openDatabase } from '@call-analysis/postgres';
import { search } from '../search/index.ts';
import { batches } from '../uploads/batch-store.ts';
import { uploads } from '../uploads/upload-store.ts';
import { calls } from './calls.ts';
import { campaigns } from './campaigns.ts';
import { erasures } from './erasures.ts';
import { listing } from './listing.ts';
import { openPrisma } from './prisma.ts';
import { recordings } from './recordings.ts';
import { tally } from './tally.ts';
import { transcripts } from './transcripts.ts';

/**
 * The only way to this service's tables. So many uploads are taken in at the same time as `intakes` says; more than 4 would
 * only share the processor. The others wait their turn.
 */
export function openStore(db: Database, url: string, { intakes = 4 } = {}) {
  const prisma = openPrisma(db);
  // An upload may hold its connection for minutes: from a pool of its own it cannot keep the rest of the service waiting.
  const intake = openDatabase({
    url,
    schema: db.schema,
    poolSize: intakes,
    connectTimeoutMs: 0,
    applicationName: 'ingest intake',
  });
  return {
    db,
    uploads: uploads(prisma, db),
    batches: batches(prisma, db),
    calls: calls(db),
    listing: listing(db),
    campaigns: campaigns(db),
    search: search(db),
    tally: tally(db),
    erasures: erasures(db),
    recordings: recordings(db),
    transcripts: transcripts(db),
    intake,
    close: async () => {
      await intake.close();
      await prisma.$disconnect();
    },
  };
}

export type Store = ReturnType<typeof openStore>;
export type { AnnouncedBatch, Archive, Batch, BatchProgress, RejectedFile } from '../uploads/batch-store.ts';
export type { CallRow, CallThere, HistoryEntry, RecognizableCall, WaitingCall } from './calls.ts';
export type { Campaign } from './campaigns.ts';
export type { Erasure, Removed } from './erasures.ts';
export type { ArchivedCall, Recording, StoredRecording } from './recordings.ts';
export { EVERYTHING, matches } from '../search/index.ts';
export type { CallFilter, Count, Found, Place, Question, Sort } from '../search/index.ts';
export type { HeardCall, Progress } from './transcripts.ts';
