import { type Database, openDatabase } from '@call-analysis/postgres';
import { search } from '../search/index.ts';
import { batches } from './batches.ts';
import { calls } from '../calls/call-store.ts';
import { campaigns } from '../campaigns/campaign-store.ts';
import { erasures } from '../erasure/erasure-store.ts';
import { listing } from '../listing/listing-store.ts';
import { openPrisma } from './prisma.ts';
import { recordings } from '../calls/recording-store.ts';
import { tally } from '../campaigns/tally-store.ts';
import { transcripts } from '../results/transcript-store.ts';
import { uploads } from './uploads.ts';

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
export type { AnnouncedBatch, Archive, Batch, BatchProgress, RejectedFile } from './batches.ts';
export type { CallRow, CallThere, HistoryEntry, RecognizableCall, WaitingCall } from '../calls/call-store.ts';
export type { Campaign } from '../campaigns/campaign-store.ts';
export type { Erasure, Removed } from '../erasure/erasure-store.ts';
export type { ArchivedCall, Recording, StoredRecording } from '../calls/recording-store.ts';
export { EVERYTHING, matches } from '../search/index.ts';
export type { CallFilter, Count, Found, Place, Question, Sort } from '../search/index.ts';
export type { HeardCall, Progress } from '../results/transcript-store.ts';
