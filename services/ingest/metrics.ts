import type { Sql } from '@call-analysis/postgres';
import { counter, gauge, cachedFor } from '@call-analysis/runtime';
import { countByStatus } from './listing/listing-store.ts';
import type { Batch } from './store/index.ts';

const calls = gauge('calls', 'Calls in the catalogue by status, at most half a minute old.', ['status']);

const CACHE_MS = 30_000;

/** Exposes the number of calls by status until the returned function is called. */
export function watchCalls(db: Sql): () => void {
  const counts = cachedFor(CACHE_MS, () => countByStatus(db));
  return calls.from(async () => (await counts()).map(({ status, calls: value }) => ({ labels: [status], value })));
}

const uploads = counter('uploads_total', 'Accepted batches by kind of upload.', ['kind']);
const rows = counter('upload_rows_total', 'Rows of accepted batches by outcome.', ['kind', 'outcome']);

/** Counts a batch that was just accepted. */
export function countBatch(
  kind: 'audio' | 'transcription',
  batch: Pick<Batch, 'accepted' | 'duplicates' | 'rejected'>,
): void {
  uploads.of(kind).add();
  rows.of(kind, 'accepted').add(batch.accepted);
  rows.of(kind, 'duplicate').add(batch.duplicates);
  rows.of(kind, 'rejected').add(batch.rejected);
}
