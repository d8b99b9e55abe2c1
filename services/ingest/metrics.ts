import type { Sql } from '@call-analysis/postgres';
import { counter, gauge, remembered } from '@call-analysis/runtime';
import { countByStatus } from './search/queries/count-calls.ts';
import type { Batch } from './store/index.ts';

const calls = gauge('calls', 'Calls in the catalogue by status, as of half a minute ago at most.', ['status']);

const REMEMBERED_MS = 30_000;

/** Shows how many calls have which status, until it is called. */
export function watchCalls(db: Sql): () => void {
  const counts = remembered(REMEMBERED_MS, () => countByStatus(db));
  return calls.from(async () => (await counts()).map(({ status, calls: value }) => ({ labels: [status], value })));
}

const uploads = counter('uploads_total', 'Batches that were accepted, by what was uploaded.', ['kind']);
const rows = counter('upload_rows_total', 'Rows of accepted batches, by what became of them.', ['kind', 'outcome']);

/** Counts a batch that has just been taken in. */
export function countBatch(
  kind: 'audio' | 'transcription',
  batch: Pick<Batch, 'accepted' | 'duplicates' | 'rejected'>,
): void {
  uploads.of(kind).add();
  rows.of(kind, 'accepted').add(batch.accepted);
  rows.of(kind, 'duplicate').add(batch.duplicates);
  rows.of(kind, 'rejected').add(batch.rejected);
}
